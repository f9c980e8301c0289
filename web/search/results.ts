/** Hits as a list of options: the page, and under it its sections that fit. All are links, so that a mouse can do with them what it does. */
import type { SiteHit, SiteSnippet } from '../../src/browser/types.ts';
import { piecesOf } from '../shared/pieces.ts';
import { make, pageAddress } from './dom.ts';

/** The groups of a list, one for each page. Options have `data-rank`, the rank of their page. */
export function drawHits(hits: readonly SiteHit[]): HTMLElement[] {
  return hits.map((hit) => {
    const id = `hit-${hit.rank}`;
    const sections = hit.sections.map((section, i) =>
      drawOption({
        id: `${id}-${i + 1}`,
        rank: hit.rank,
        kind: 'section',
        title: section.title,
        url: section.url,
        snippet: section.snippet.text === hit.snippet.text ? undefined : section.snippet, // the page shows it
      }),
    );
    const { rank, title, url, snippet, labels } = hit;
    const page = drawOption({ id, rank, kind: 'page', title, url, snippet, labels: Object.values(labels) });
    return make(
      'div',
      { role: 'group', part: 'group', class: 'group', 'aria-labelledby': `${id}-title` },
      page,
      ...sections,
    );
  });
}

type OptionParts = {
  readonly id: string;
  readonly rank: number;
  readonly kind: 'page' | 'section';
  readonly title: string;
  readonly url: string;
  readonly snippet: SiteSnippet | undefined;
  readonly labels?: readonly string[];
};

function drawOption({ id, rank, kind, title, url, snippet, labels = [] }: OptionParts): HTMLElement {
  const option = make('a', {
    id,
    role: 'option',
    part: `option ${kind}`,
    class: `option ${kind}`,
    href: pageAddress(url, document.baseURI),
    tabindex: '-1',
    'aria-selected': 'false',
    'data-rank': String(rank),
  });
  option.append(make('span', { id: `${id}-title`, part: 'title', class: 'title', dir: 'auto' }, title || url));
  for (const label of labels) option.append(make('span', { part: 'label', class: 'label', dir: 'auto' }, label));
  // For a mouse; keys and screen readers have the button below the list, which explains whatever option is active.
  if (kind === 'page') option.append(make('span', { part: 'ask-why', class: 'ask-why', 'aria-hidden': 'true' }, '?'));
  if (snippet) option.append(drawSnippet(snippet));
  return option;
}

function drawSnippet({ text, marks, isCut }: SiteSnippet): HTMLElement {
  const pieces = piecesOf(text, marks).map(({ text: piece, isMarked }) =>
    isMarked ? make('mark', { part: 'mark' }, piece) : piece,
  );
  return make(
    'span',
    { part: 'snippet', class: 'snippet', dir: 'auto' },
    isCut?.before ? '… ' : '',
    ...pieces,
    isCut?.after ? ' …' : '',
  );
}
