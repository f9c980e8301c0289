/** A ValueInfoProto: the name and shape of a graph's input or output. Knows nothing of files. */
import { quoted } from '../../core/index.ts';
import type { Dim } from '../../graph/index.ts';
import { decodeVarint, isWholeVarint, WIRE } from './wire-format.ts';

/** An input or output. */
export type OnnxValue = {
  readonly name: string;
  /** Sizes, or names for those that a run decides; '?' for what the file does not say; empty where it says nothing. */
  readonly shape: readonly Dim[];
};

/** Makes the error for a problem at a byte of the message. */
type Fail = (at: number, problem: string) => Error;

/** Field numbers: name and type of a value, tensor of a type, shape of a tensor, dimensions of a shape. */
const NAME = 1;
const TYPE = 2;
const TENSOR = 1;
const SHAPE = 2;
const DIM = 1;
const DIM_VALUE = 1;
const DIM_NAME = 2;

/** More dimensions than any tensor has. */
const MAX_DIMS = 64;

const utf8 = new TextDecoder('utf-8', { fatal: false });

/** Reads the message. */
export function parseValueInfo(bytes: Uint8Array, fail: Fail): OnnxValue {
  const fields = (message: Uint8Array) => fieldsOf(message, bytes, fail);
  let name = '';
  const dims: Dim[] = [];
  for (const { number, content } of fields(bytes)) {
    if (number === NAME && content) name = utf8.decode(content);
    if (number !== TYPE || !content) continue;
    for (const tensor of only(fields(content), TENSOR))
      for (const shape of only(fields(tensor), SHAPE))
        for (const dim of only(fields(shape), DIM)) dims.push(dimOf(fields(dim)));
  }
  if (name === '') throw fail(0, 'a value without a name');
  if (dims.length > MAX_DIMS) throw fail(0, `${quoted(name)} has ${dims.length} dimensions`);
  return { name, shape: dims };
}

type Field = { readonly number: number; readonly value: number; readonly content: Uint8Array | undefined };

/** Contents of the fields of one number. */
function only(fields: readonly Field[], number: number): Uint8Array[] {
  return fields.flatMap((field) => (field.number === number && field.content ? [field.content] : []));
}

function dimOf(fields: readonly Field[]): Dim {
  const size = fields.find(({ number, content }) => number === DIM_VALUE && !content)?.value;
  if (size !== undefined) return size;
  const [name] = only(fields, DIM_NAME);
  return name === undefined ? '?' : utf8.decode(name);
}

/** The fields of a message that is part of `whole`, by which errors say their place. */
function fieldsOf(message: Uint8Array, whole: Uint8Array, fail: Fail): Field[] {
  const fields: Field[] = [];
  const here = (at: number) => message.byteOffset - whole.byteOffset + at;
  const number = (at: number) => {
    if (!isWholeVarint(message.subarray(at))) throw fail(here(at), 'a number does not end');
    return decodeVarint(message, at);
  };
  for (let at = 0; at < message.length; ) {
    const tag = number(at);
    const wire = tag.value % 8;
    const begin = at + tag.length;
    if (wire !== WIRE.varint && wire !== WIRE.delimited) throw fail(here(at), `a field of wire type ${wire}`);
    const { value, length } = number(begin);
    const end = begin + length + (wire === WIRE.varint ? 0 : value);
    if (end > message.length)
      throw fail(here(at), `a field has ${value} bytes, ${message.length - begin - length} are left`);
    const content = wire === WIRE.varint ? undefined : message.subarray(begin + length, end);
    fields.push({ number: Math.floor(tag.value / 8), value, content });
    at = end;
  }
  return fields;
}
