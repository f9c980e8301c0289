/**
 * What a pickle can be turned into: plain data, and things that an allow-list makes of it. There is no other way for a
 * pickle to make anything.
 */
import type { CheckpointError } from '../../core/index.ts';

/** A value of a pickle. A list is an array, a dict a Map. */
export type PickleValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | PickleValue[]
  | PickleTuple
  | PickleDict
  | PickleCallable
  | PickledObject;

/** A dict. Keys that are not plain values are told apart by identity, which is enough for whoever looks up names. */
export type PickleDict = Map<PickleValue, PickleValue>;

/** What a callable may do besides making a value. */
export type PickleRun = {
  /** Makes the error for a problem at the opcode that is being run. */
  fail(problem: string): CheckpointError;
  /** Counts work that grows with what is given, and refuses too much of it. */
  spend(numSteps: number): void;
};

/** A tuple, which cannot be appended to. */
export class PickleTuple {
  readonly items: readonly PickleValue[];

  constructor(items: readonly PickleValue[]) {
    this.items = items;
  }
}

/** Something of the allow-list that may be called; it only makes values. */
export class PickleCallable {
  /** As Python spells it, for messages. */
  readonly name: string;
  readonly call: (args: readonly PickleValue[], run: PickleRun) => PickleValue;

  constructor(name: string, call: PickleCallable['call']) {
    this.name = name;
    this.call = call;
  }
}

/** Base of what callables and persistent ids make, and of constants of the allow-list. */
export type PickledObject = {
  /** For messages. */
  readonly pickledAs: string;
};

/** What a value is, in a word or two of Python, for messages. */
export function kindOf(value: PickleValue): string {
  if (value === null) return 'None';
  if (typeof value === 'object') return kindOfObject(value);
  if (typeof value === 'boolean') return 'a bool';
  return typeof value === 'string' ? 'a str' : 'a number';
}

function kindOfObject(value: Extract<PickleValue, object>): string {
  if (Array.isArray(value)) return 'a list';
  if (value instanceof PickleTuple) return 'a tuple';
  if (value instanceof Map) return 'a dict';
  if (value instanceof Uint8Array) return 'bytes';
  return value instanceof PickleCallable ? value.name : value.pickledAs;
}
