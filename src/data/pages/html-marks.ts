/**
 * What a page's own markup, or the configuration of a site, says about parts of it:
 *
 *     data-lzero-ignore                   not searched
 *     data-lzero-body                     this is the page; nothing else of it is searched
 *     data-lzero-weight="2"               counts twice
 *     data-lzero-label="version:3.11"     the page is filed under version 3.11
 *     data-lzero-label="version"          the same with the text of the element, or its `content`
 *
 * Elements are chosen from outside by selectors of one step: `nav`, `.toc`, `#side`, `[role=note]`, `div.note`.
 */
import { ConfigError, InputError } from '../../core/index.ts';
import { quote } from '../bad-line.ts';
import type { Attributes } from './html-elements.ts';

/** Whether an element is meant. */
export type Selects = (name: string, attributes: Attributes) => boolean;

/** What `data-lzero-weight` says; undefined where it is not there. InputError: not a number that a weight can be. */
export function weightOf(attributes: Attributes): number | undefined {
  const text = attributes['data-lzero-weight'];
  if (text === undefined) return undefined;
  const weight = text.trim() === '' ? Number.NaN : Number(text);
  if (weight > 0 && weight <= MAX_WEIGHT) return weight;
  throw new InputError(`data-lzero-weight is a number above 0, at most ${MAX_WEIGHT}, not ${quote(text)}`);
}

/** Larger weights would all be the largest that 8 bits hold. */
export const MAX_WEIGHT = 10;

/** What `data-lzero-label` says; without a value where that is the element's text. */
export function labelOf(attributes: Attributes): { readonly name: string; readonly value?: string } | undefined {
  const label = attributes['data-lzero-label'];
  if (!label) return undefined;
  const [, name, value] = /^\s*([^:]+?)\s*(?::\s*(.*?)\s*)?$/s.exec(label) ?? [];
  if (name === undefined) return undefined;
  const given = value || attributes.content;
  return given ? { name, value: given } : { name };
}

const STEP = /^(?<tag>[a-z][\w-]*)?(?<rest>(?:[.#][\w-]+|\[[\w-]+(?:="?[^"\]]*"?)?\])*)$/i;
const TEST = /([.#])([\w-]+)|\[([\w-]+)(?:="?([^"\]]*)"?)?\]/g;

/** Reads selectors; an element is meant if one of them fits. ConfigError: not a selector of one step. */
export function parseSelectors(selectors: readonly string[]): Selects {
  const parsed = selectors.map(parseSelector);
  return (name, attributes) => parsed.some((selects) => selects(name, attributes));
}

function parseSelector(selector: string): Selects {
  const { tag, rest } = STEP.exec(selector.trim())?.groups ?? {};
  if (selector.trim() === '' || rest === undefined)
    throw new ConfigError(`${JSON.stringify(selector)} is not a selector of one step`, {
      hint: 'write nav, .toc, #sidebar, [role=note] or div.note; mark other elements with data-lzero-ignore',
    });
  const tests = Array.from(rest.matchAll(TEST), ([, sign, word, attribute, value]): Selects => {
    if (sign === '#') return (_, { id }) => id === word;
    if (sign === '.') return (_, attributes) => (attributes.class ?? '').split(/\s+/).includes(word);
    return (_, attributes) =>
      attributes[attribute] !== undefined && (value === undefined || attributes[attribute] === value);
  });
  const wanted = tag?.toLowerCase();
  return (name, attributes) =>
    (wanted === undefined || name === wanted) && tests.every((test) => test(name, attributes));
}
