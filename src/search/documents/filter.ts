/**
 * The language of filters, the same in the library, in JSON over HTTP and on the command line:
 *
 *     { "lang": "en" }                                      equal; of a list of keywords one is enough
 *     { "year": { "gte": 2020, "lt": 2025 } }               gt, gte, lt, lte, on numbers
 *     { "tag": { "in": ["a", "b"] } }                       one of these
 *     { "draft": { "exists": false } }                      has no value
 *     { "lang": "en", "year": 2024 }                        all of these
 *     { "or": [ {…}, {…} ] }   { "and": [ {…}, {…} ] }   { "not": {…} }
 *
 * A document without a value passes no test of that field but `exists: false`, and so passes `not` of the others. Parsing
 * checks names and types against the declared fields and gives a normal form; filter-bitmap.ts evaluates it.
 */
import { IndexStateError, isJsonObject, UsageError } from '../../core/index.ts';
import type { FieldSchema, FieldType } from './fields.ts';

/** A value that a field can be compared with. */
export type FilterValue = string | number | boolean;

/** What a field has to fulfil: a value, or tests that must all hold. */
export type FieldCondition =
  | FilterValue
  | {
      readonly eq?: FilterValue;
      readonly in?: readonly FilterValue[];
      readonly gt?: number;
      readonly gte?: number;
      readonly lt?: number;
      readonly lte?: number;
      readonly exists?: boolean;
    };

/** Which documents may be returned: conditions by the name of a declared field, and `and`, `or`, `not`. */
export type Filter = {
  readonly and?: readonly Filter[];
  readonly or?: readonly Filter[];
  readonly not?: Filter;
  readonly [field: string]: FieldCondition | Filter | readonly Filter[] | undefined;
};

/** A filter in normal form. */
export type FilterNode =
  | { readonly op: 'all' | 'any'; readonly of: readonly FilterNode[] }
  | { readonly op: 'not'; readonly of: FilterNode }
  | { readonly op: 'exists'; readonly field: string }
  | { readonly op: 'in'; readonly field: string; readonly values: readonly FilterValue[] }
  | { readonly op: RangeOperator; readonly field: string; readonly bound: number };

/** Tests of the order of numbers. */
export type RangeOperator = 'gt' | 'gte' | 'lt' | 'lte';

const RANGE_OPERATORS: readonly string[] = ['gt', 'gte', 'lt', 'lte'] satisfies readonly RangeOperator[];
const OPERATORS = ['eq', 'in', ...RANGE_OPERATORS, 'exists'];
/** Filters come from outside: deeper ones would end in a stack overflow. */
const MAX_DEPTH = 50;

/** Checks a filter against the declared fields. UsageError: not a filter; IndexStateError: the index has no such field. */
export function parseFilter(filter: unknown, schema: FieldSchema): FilterNode {
  return parseAll(filter, { schema, path: 'filter', depth: 0 });
}

/** Where the parser is. */
type Place = { readonly schema: FieldSchema; readonly path: string; readonly depth: number };

function parseAll(filter: unknown, place: Place): FilterNode {
  if (place.depth > MAX_DEPTH) throw wrong(place, `expected at most ${MAX_DEPTH} filters inside each other`);
  if (!isJsonObject(filter)) throw wrong(place, `expected an object such as {"lang": "en"}, got ${show(filter)}`);
  const entries = Object.entries(filter).filter(([, value]) => value !== undefined);
  return joined(
    'all',
    entries.map(([name, value]) => parseEntry(name, value, inside(place, name))),
  );
}

function parseEntry(name: string, value: unknown, place: Place): FilterNode {
  if (name === 'and') return joined('all', parseList(value, place));
  if (name === 'or') return joined('any', parseList(value, place));
  if (name === 'not') return { op: 'not', of: parseAll(value, place) };
  const type = Object.hasOwn(place.schema, name) ? place.schema[name] : undefined;
  if (type === undefined) throw unknownField(name, place.schema);
  if (!isJsonObject(value)) return parseTest('eq', value, { name, type, place });
  const tests = Object.entries(value).filter(([, operand]) => operand !== undefined);
  if (tests.length === 0) throw wrong(place, `expected one of ${OPERATORS.join(', ')}`);
  return joined(
    'all',
    tests.map(([operator, operand]) => parseTest(operator, operand, { name, type, place: inside(place, operator) })),
  );
}

function parseList(value: unknown, place: Place): FilterNode[] {
  if (!Array.isArray(value)) throw wrong(place, `expected a list of filters, got ${show(value)}`);
  return value.map((item: unknown, i) => parseAll(item, inside(place, String(i))));
}

/** The field that is tested. */
type Field = { readonly name: string; readonly type: FieldType; readonly place: Place };

function parseTest(operator: string, operand: unknown, field: Field): FilterNode {
  const { name, place } = field;
  if (operator === 'eq') return { op: 'in', field: name, values: [parseValue(operand, field)] };
  if (operator === 'in') return { op: 'in', field: name, values: parseValues(operand, field) };
  if (operator === 'exists') return parseExists(operand, field);
  if (isRangeOperator(operator)) return { op: operator, field: name, bound: parseBound(operand, field) };
  throw wrong(place, `unknown test ${JSON.stringify(operator)}`, `tests are ${OPERATORS.join(', ')}`);
}

function parseValues(operand: unknown, field: Field): FilterValue[] {
  if (!Array.isArray(operand)) throw wrong(field.place, `expected a list, got ${show(operand)}`);
  return [...new Set(operand.map((item: unknown) => parseValue(item, field)))].sort((a, b) => (a < b ? -1 : 1));
}

/** A value of the field's own type. */
function parseValue(value: unknown, { type, place }: Field): FilterValue {
  if (type === 'keyword' && typeof value === 'string') return value;
  if (type === 'boolean' && typeof value === 'boolean') return value;
  if (type === 'number' && isFiniteNumber(value)) return value + 0; // −0 + 0 = 0: one name for both
  const expected = { keyword: 'a string', number: 'a number', boolean: 'true or false' }[type];
  throw wrong(place, `expected ${expected}, got ${show(value)}`, hintFor(value));
}

function hintFor(value: unknown): string | undefined {
  if (value === null) return 'documents without a value: {"exists": false}';
  return Array.isArray(value) ? `several values: {"in": ${show(value)}}` : undefined;
}

function parseExists(operand: unknown, { name, place }: Field): FilterNode {
  if (typeof operand !== 'boolean') throw wrong(place, `expected true or false, got ${show(operand)}`);
  const exists: FilterNode = { op: 'exists', field: name };
  return operand ? exists : { op: 'not', of: exists };
}

function parseBound(operand: unknown, { type, place }: Field): number {
  if (type !== 'number') throw wrong(place, `only numbers have an order, this field is a ${type}`);
  if (!isFiniteNumber(operand)) throw wrong(place, `expected a number, got ${show(operand)}`);
  return operand + 0;
}

/** Joins parts in an order that does not depend on how they were written: equal filters get equal normal forms. */
function joined(op: 'all' | 'any', parts: readonly FilterNode[]): FilterNode {
  const byText = new Map(parts.map((part) => [JSON.stringify(part), part]));
  if (byText.size === 1) return parts[0];
  return { op, of: [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part) };
}

function isRangeOperator(operator: string): operator is RangeOperator {
  return RANGE_OPERATORS.includes(operator);
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function inside({ schema, path, depth }: Place, name: string): Place {
  return { schema, path: `${path}.${name}`, depth: depth + 1 };
}

function wrong({ path }: Place, problem: string, hint?: string): UsageError {
  return new UsageError(`${path}: ${problem}`, { hint });
}

function unknownField(name: string, schema: FieldSchema): IndexStateError {
  const names = Object.keys(schema);
  return new IndexStateError(`filter: the index has no field ${JSON.stringify(name)}`, {
    hint:
      names.length > 0
        ? `declared fields: ${names.join(', ')}`
        : 'this index declares no fields: name them when it is created',
  });
}

function show(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
