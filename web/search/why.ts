/** Why a page was found: the products of query and page weights that add up to its score. */
import type { SiteAnswer, SiteHit } from '../../src/browser/types.ts';
import { make } from './dom.ts';
import { filled, type Strings } from './strings.ts';

const NUM_DIGITS = 2;

/** What the panel needs to know. */
export type WhyParts = {
  readonly answer: SiteAnswer;
  /** Of these the one to explain. */
  readonly hit: SiteHit;
  readonly strings: Strings;
  readonly language: string;
  /** What the browser or the host lacks, as sentences. */
  readonly degraded: readonly string[];
};

/** The inside of the panel. */
export function drawWhy({ answer, hit, strings, language, degraded }: WhyParts): HTMLElement[] {
  const { explain = [] } = hit;
  const shared = new Set(explain.map(({ token }) => token));
  // Words that the last one only begins are not missed.
  const missing = answer.terms
    .filter(({ token }) => !shared.has(token) && answer.query.toLowerCase().includes(pieceOf(token)))
    .map(({ token }) => tokenLabel(token));
  const notes: string[] = [];
  if (explain.some(({ token }) => !isShown(token, hit))) notes.push(strings.byMeaning);
  if (missing.length > 0) notes.push(filled(strings.missing, { terms: missing.join(', ') }));
  return [
    drawChoice(answer.hits, hit, strings),
    drawProducts(hit, strings, language),
    ...[...notes, ...degraded].map((note) => make('p', { part: 'why-note', class: 'note' }, note)),
  ];
}

function drawChoice(hits: readonly SiteHit[], chosen: SiteHit, strings: Strings): HTMLElement {
  const options = hits.map(({ rank, title, url }) =>
    make('option', { value: String(rank), selected: rank === chosen.rank }, `${rank}. ${title || url}`),
  );
  return make(
    'label',
    { class: 'choice' },
    `${strings.explained} `,
    make('select', { class: 'explained' }, ...options),
  );
}

function drawProducts(hit: SiteHit, strings: Strings, language: string): HTMLElement {
  const { explain = [], score } = hit;
  const format = new Intl.NumberFormat(language, {
    minimumFractionDigits: NUM_DIGITS,
    maximumFractionDigits: NUM_DIGITS,
  });
  const heads = [strings.token, strings.inQuery, strings.onPage, strings.product];
  const most = String(explain[0]?.product ?? 1);
  const rows = explain.map(({ token, queryWeight, docWeight, product }) =>
    make(
      'tr',
      {},
      make('th', { scope: 'row' }, isShown(token, hit) ? '' : '≈ ', make('bdi', {}, tokenLabel(token))),
      ...[queryWeight, docWeight, product].map((value) => make('td', {}, format.format(value))),
      make(
        'td',
        { class: 'bar' },
        make('meter', { min: '0', max: most, value: String(product), 'aria-label': `${strings.product} ${token}` }),
      ),
    ),
  );
  const sum = make(
    'tr',
    {},
    make('th', { scope: 'row', colspan: '3' }, strings.score),
    make('td', {}, format.format(score)),
    make('td', { class: 'bar' }),
  );
  return make(
    'table',
    { part: 'why-table' },
    make(
      'thead',
      {},
      make('tr', {}, ...heads.map((head) => make('th', { scope: 'col' }, head)), make('td', { class: 'bar' })),
    ),
    make('tbody', {}, ...rows),
    make('tfoot', {}, sum),
  );
}

/** Whether a token is a word of a title, or part of a marked word, in what the list shows of a page. */
export function isShown(token: string, { title, snippet, sections }: SiteHit): boolean {
  const piece = pieceOf(token);
  const titles = [title, ...sections.map((section) => section.title)].join(' ').toLowerCase();
  if (titles.split(/[^\p{L}\p{N}]+/u).includes(piece)) return true;
  return [snippet, ...sections.map((section) => section.snippet)].some(({ text, marks }) =>
    marks.some(([start, end]) => text.slice(start, end).toLowerCase().includes(piece)),
  );
}

/** The letters of a token. */
function pieceOf(token: string): string {
  return token.replace(/^##/, '');
}

/** A token as people read it: `##ing`, which goes on with a word, as `…ing`. */
export function tokenLabel(token: string): string {
  return token.replace(/^##/, '…');
}
