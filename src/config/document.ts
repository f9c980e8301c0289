/**
 * YAML or JSON text to a plain value that remembers where each part was written. JSON is read as the subset of YAML
 * that it is. Knows nothing of schemas; problems are collected, not thrown.
 */
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  parseDocument,
  type Scalar,
  visit,
} from 'yaml';
import { messageOf, type SettingPath } from '../core/index.ts';

/** One thing that is wrong, and where: `train.yaml:3:5`, or the `--set` that brought it. */
export type Problem = { readonly where: string; readonly message: string };

/** A text that was read. `value` counts only where there are no problems. */
export type SourceDocument = {
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Where `path` was written, `file:line:column`; of its key rather than its value if asked. Undefined if absent. */
  locate(path: SettingPath, part: 'key' | 'value'): string | undefined;
};

/** Aliases that one text may expand to. A configuration has a handful; a bomb has millions. */
const MAX_ALIASES = 100;

/** Levels of nesting. The YAML composer recurses, and V8 has aborted the process on texts nested 100,000 deep. */
const MAX_DEPTH = 64;

/** Reads one YAML or JSON text; `name` stands for it in every position. An empty text is an empty section. */
export function readDocument(text: string, name: string): SourceDocument {
  if (isTooDeep(text)) return failed(name, `nested more than ${MAX_DEPTH} levels deep`);
  const lines = new LineCounter();
  const position = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  const problems = [...document.errors, ...document.warnings].map(({ pos, code, message }) => ({
    where: position(pos[0]),
    message: code === 'DUPLICATE_KEY' ? 'this key is already there' : sentence(message),
  }));
  for (const { node, message } of badNodes(document)) problems.push({ where: position(node.range?.[0] ?? 0), message });
  if (problems.length > 0) return { value: undefined, problems, locate: () => undefined };
  return plainValue(document, name, (path, part) => {
    const offset = offsetOf(document, path, part);
    return offset === undefined ? undefined : position(offset);
  });
}

function plainValue(document: Document.Parsed, name: string, locate: SourceDocument['locate']): SourceDocument {
  try {
    const value: unknown = document.contents === null ? {} : document.toJS({ maxAliasCount: MAX_ALIASES });
    return { value, problems: [], locate };
  } catch (error) {
    // The only throw of toJS that a well-formed document meets is its alias limit.
    return failed(name, `aliases expand to more than ${MAX_ALIASES} values (${messageOf(error)})`);
  }
}

function failed(where: string, message: string): SourceDocument {
  return { value: undefined, problems: [{ where, message }], locate: () => undefined };
}

/** The parser keeps its open collections on a stack of its own, so its height is safe to watch. */
function isTooDeep(text: string): boolean {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > MAX_DEPTH) return true;
  }
  return false;
}

type BadNode = { readonly node: { readonly range?: Scalar['range'] | undefined }; readonly message: string };

/** What YAML allows and a configuration does not: numbers that are not what was written, values inside themselves. */
function badNodes(document: Document.Parsed): BadNode[] {
  const bad: BadNode[] = [];
  visit(document, {
    Scalar(_, node) {
      const message = numberProblem(node);
      if (message !== undefined) bad.push({ node, message });
    },
    Alias(_, node, ancestors) {
      const target = node.resolve(document);
      if (target === undefined) bad.push({ node, message: `alias \`${node.source}\` has no anchor before it` });
      else if (ancestors.includes(target))
        bad.push({ node, message: `alias \`${node.source}\` lies inside its own anchor` });
    },
  });
  return bad;
}

function numberProblem({ value, source }: Scalar): string | undefined {
  if (typeof value !== 'number') return undefined;
  if (!Number.isFinite(value)) return `${source ?? value} is not a finite number`;
  const isWrittenAsInteger = source !== undefined && /^[-+]?(?:\d+|0x[\da-f]+|0o[0-7]+)$/i.test(source);
  if (isWrittenAsInteger && !Number.isSafeInteger(value)) return `${source} is too large to be held exactly`;
  return undefined;
}

function offsetOf(document: Document.Parsed, path: SettingPath, part: 'key' | 'value'): number | undefined {
  let node: unknown = document.contents;
  let key: unknown;
  for (const step of path) {
    const parent = isAlias(node) ? node.resolve(document) : node;
    const item: unknown = isMap(parent)
      ? parent.items.find((pair) => isScalar(pair.key) && pair.key.value === String(step))
      : isSeq(parent) && parent.items[Number(step)];
    [key, node] = isPair(item) ? [item.key, item.value] : [item, item];
    if (!isNode(key)) return undefined;
  }
  const wanted = part === 'value' && isNode(node) ? node : key;
  return isNode(wanted) ? wanted.range?.[0] : undefined;
}

/** The library's words, as the end of a sentence that begins with a position. */
function sentence(message: string): string {
  const [line] = message.split('\n');
  if (line.startsWith('Source contains multiple documents')) return 'a second document begins here; only one is read';
  return line.charAt(0).toLowerCase() + line.slice(1);
}
