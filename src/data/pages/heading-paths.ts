/** What a piece of a page is called: the page, then the headings above the piece. */
import type { CountTokens } from './cut-text.ts';
import { cutText } from './cut-text.ts';
import type { Heading } from './page.ts';

const BETWEEN = ' › ';

/** A title and what it costs. */
export type Context = { readonly title: string; readonly numTokens: number };

/** For each heading the one it stands under, the nearest before it of a higher rank; −1 for none. */
export function headingParents(headings: readonly Heading[]): Int32Array {
  const parents = new Int32Array(headings.length);
  const open: number[] = [];
  headings.forEach(({ level }, i) => {
    while (open.length > 0 && headings[open[open.length - 1]].level >= level) open.pop();
    parents[i] = open.at(-1) ?? -1;
    open.push(i);
  });
  return parents;
}

/** The headings above heading `at`, from the outermost to itself. */
export function headingPath(parents: Int32Array, at: number): number[] {
  const path: number[] = [];
  for (let i = at; i >= 0; i = parents[i]) path.unshift(i);
  return path;
}

/**
 * "Page › Chapter › Section", in at most `maxTokens`: where that is too long without the chapters, then cut.
 *
 * @param page title of the page; a heading that repeats it is left out
 */
export function contextOf(
  page: string,
  path: readonly string[],
  { maxTokens, count }: { readonly maxTokens: number; readonly count: CountTokens },
): Context {
  const titles = [page, ...path.filter((text) => text !== page)].filter((text) => text !== '');
  const short = titles.length > 2 ? [titles[0], titles[titles.length - 1]] : titles;
  for (const parts of [titles, short, titles.slice(-1)]) {
    const title = parts.join(BETWEEN);
    const numTokens = count(title);
    if (numTokens <= maxTokens) return { title, numTokens };
  }
  const [first] = cutText(titles[titles.length - 1], maxTokens, count);
  return { title: first.text.trimEnd(), numTokens: first.numTokens };
}
