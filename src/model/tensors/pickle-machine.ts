/**
 * The stack machine that runs a pickle: bytes, stack, marks and memo, each within bounds. What the opcodes do with it is
 * pickle-opcodes.ts. It holds values and moves them; it can call nothing.
 */
import { CheckpointError } from '../../core/index.ts';
import { kindOf, type PickleDict, type PickleRun, PickleTuple, type PickleValue } from './pickle-values.ts';

/** Where a pickle is from. */
export type PickleSource = {
  readonly bytes: Uint8Array;
  /** What messages call the file, or the part of it in which bytes are counted. */
  readonly label: string;
  /** Position there of the first byte. */
  readonly start: number;
  /** Whether the pickle may go on beyond these bytes. */
  readonly hasMore: boolean;
};

/** Thrown where a pickle goes on beyond the bytes at hand, to be run again with more of them. */
export class MoreBytesNeeded extends Error {}

/** Bounds of what one pickle may do. A checkpoint of 100,000 tensors takes about 4 million steps. */
export const PICKLE_LIMITS = {
  /** Opcodes that are run and values that are copied. */
  steps: 5_000_000,
  /** Lists, tuples and dicts that are made. */
  containers: 700_000,
  memo: 1_000_000,
  stack: 100_000,
  marks: 1000,
  /** Bytes of one string; tensors have names of less than a hundred. */
  stringBytes: 65_536,
  /** Bytes of an integer. */
  integerBytes: 16,
} as const;

const SUSPICIOUS = 'a state_dict of tensors is never like this: the file is damaged, or made to do harm';
const DAMAGED = 'the file is damaged or was not written by torch.save: fetch or export it again';

/** A pickle in the middle of being run. */
export class PickleMachine implements PickleRun {
  readonly #source: PickleSource;
  readonly #view: DataView;
  readonly #stack: PickleValue[] = [];
  readonly #marks: number[] = [];
  readonly #memo = new Map<number, PickleValue>();
  #at = 0;
  #opcodeAt = 0;
  #opcodeName = 'the first opcode';
  #numSteps = 0;
  #numContainers = 0;

  constructor(source: PickleSource) {
    this.#source = source;
    this.#view = new DataView(source.bytes.buffer, source.bytes.byteOffset, source.bytes.byteLength);
  }

  /** Bytes that have been read. */
  get numBytesRead(): number {
    return this.#at;
  }

  /** The next opcode. */
  opcode(): number {
    this.#opcodeAt = this.#at;
    this.#opcodeName = 'an opcode';
    this.spend(1);
    return this.u8();
  }

  /** How messages call the opcode that is being run. */
  set opcodeName(name: string) {
    this.#opcodeName = name;
  }

  /** The error for a problem at the opcode that is being run. */
  fail(problem: string): CheckpointError {
    return this.#error(problem, DAMAGED);
  }

  /** The same, for what no sound file has. */
  refuse(problem: string): CheckpointError {
    return this.#error(problem, SUSPICIOUS);
  }

  #error(problem: string, hint: string): CheckpointError {
    const { label, start } = this.#source;
    return new CheckpointError(`${label}: byte ${start + this.#opcodeAt}: ${this.#opcodeName}: ${problem}`, { hint });
  }

  /** Counts work, and refuses too much of it. */
  spend(numSteps: number): void {
    this.#numSteps += numSteps;
    if (this.#numSteps > PICKLE_LIMITS.steps) throw this.refuse(`more than ${PICKLE_LIMITS.steps} steps`);
  }

  /** Counts a list, tuple or dict of so many items, and refuses too many. */
  spendContainer(numItems = 0): void {
    this.spend(numItems);
    if (++this.#numContainers > PICKLE_LIMITS.containers)
      throw this.refuse(`more than ${PICKLE_LIMITS.containers} lists, tuples and dicts`);
  }

  // ── bytes ──

  /** One byte. */
  u8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  /** Two bytes, little-endian. */
  u16(): number {
    return this.#view.getUint16(this.#take(2), true);
  }

  /** Four bytes, little-endian. */
  u32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  /** Four bytes, little-endian, with a sign. */
  i32(): number {
    return this.#view.getInt32(this.#take(4), true);
  }

  /** Eight bytes, little-endian; those that no length can have come out as too large for any bound. */
  u64(): number {
    return Number(this.#view.getBigUint64(this.#take(8), true));
  }

  /** A double, big-endian: the one number that pickles store so. */
  f64(): number {
    return this.#view.getFloat64(this.#take(8), false);
  }

  /** So many bytes, not copied. */
  bytes(length: number): Uint8Array {
    const start = this.#take(length);
    return this.#source.bytes.subarray(start, start + length);
  }

  /** The bytes of a string, within its bound. */
  stringBytes(length: number): Uint8Array {
    const { stringBytes } = PICKLE_LIMITS;
    if (length > stringBytes) throw this.refuse(`a string of ${length} bytes, the limit is ${stringBytes}`);
    return this.bytes(length);
  }

  /** Bytes to the next end of line, which is taken too. */
  line(): Uint8Array {
    const { bytes } = this.#source;
    const end = bytes.subarray(this.#at, this.#at + PICKLE_LIMITS.stringBytes + 1).indexOf(0x0a);
    if (end >= 0) return this.bytes(end + 1).subarray(0, end);
    if (bytes.length - this.#at > PICKLE_LIMITS.stringBytes) throw this.refuse('a line without an end');
    throw this.#ended();
  }

  #take(length: number): number {
    const start = this.#at;
    if (length > this.#source.bytes.length - start) throw this.#ended();
    this.#at += length;
    return start;
  }

  #ended(): Error {
    const { hasMore, bytes, start } = this.#source;
    return hasMore
      ? new MoreBytesNeeded()
      : this.fail(`the pickle ends at byte ${start + bytes.length}, in the middle`);
  }

  // ── stack, marks, memo ──

  /** Puts a value on the stack. */
  push(value: PickleValue): void {
    if (this.#stack.length >= PICKLE_LIMITS.stack)
      throw this.refuse(`more than ${PICKLE_LIMITS.stack} values on the stack`);
    this.#stack.push(value);
  }

  /** Takes the value on top of the stack, above the last mark. */
  pop(): PickleValue {
    const value = this.#stack.length > (this.#marks.at(-1) ?? 0) ? this.#stack.pop() : undefined;
    if (value === undefined) throw this.fail('the stack is empty');
    return value;
  }

  /** The value on top of the stack, above the last mark, which stays. */
  top(): PickleValue {
    const value = this.pop();
    this.#stack.push(value);
    return value;
  }

  /** Remembers the height of the stack. */
  mark(): void {
    if (this.#marks.length >= PICKLE_LIMITS.marks) throw this.refuse(`more than ${PICKLE_LIMITS.marks} open marks`);
    this.#marks.push(this.#stack.length);
  }

  /** Takes the values above the last mark, and the mark. */
  popToMark(): PickleValue[] {
    const height = this.#marks.pop();
    if (height === undefined) throw this.fail('there is no mark');
    return this.#stack.splice(height);
  }

  /** Keeps the value on top of the stack under a number; without one, under the next. */
  remember(index = this.#memo.size): void {
    if (this.#memo.size >= PICKLE_LIMITS.memo) throw this.refuse(`more than ${PICKLE_LIMITS.memo} values in the memo`);
    this.#memo.set(index, this.top());
  }

  /** Puts a value that was kept on the stack again: the same one, not a copy. */
  recall(index: number): void {
    const value = this.#memo.get(index);
    if (value === undefined) throw this.fail(`nothing is kept under ${index}`);
    this.push(value);
  }

  /** A value that must be a tuple. */
  popTuple(): PickleTuple {
    const value = this.pop();
    if (value instanceof PickleTuple) return value;
    throw this.fail(`expected a tuple, got ${kindOf(value)}`);
  }

  /** The list on top of the stack. */
  topList(): PickleValue[] {
    const value = this.top();
    if (Array.isArray(value)) return value;
    throw this.fail(`expected a list, got ${kindOf(value)}`);
  }

  /** The dict on top of the stack. */
  topDict(): PickleDict {
    const value = this.top();
    if (value instanceof Map) return value;
    throw this.fail(`expected a dict, got ${kindOf(value)}`);
  }
}
