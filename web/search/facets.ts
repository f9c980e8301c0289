/** Choices by label, where the pages of a site have labels: one list for each. */
import type { Filter } from '../../src/search/index.ts';
import { make } from './dom.ts';
import type { Strings } from './strings.ts';

type Labels = Readonly<Record<string, readonly string[]>>;

/** A list for each label that has values to choose between. */
export function drawFacets(labels: Labels, strings: Strings): HTMLElement[] {
  return Object.entries(labels)
    .filter(([, values]) => values.length > 1)
    .map(([name, values]) => {
      const options = values.map((value) => make('option', { value }, value));
      const select = make('select', { name, part: 'facet' }, make('option', { value: '' }, strings.all), ...options);
      return make('label', { part: 'facet-label' }, make('span', { dir: 'auto' }, name), select);
    });
}

/** What was chosen, as the runtime takes it; undefined where nothing is. */
export function filterOf(facets: HTMLElement): Filter | undefined {
  const chosen = Array.from(facets.querySelectorAll('select'), ({ name, value }) => [name, value] as const).filter(
    ([, value]) => value !== '',
  );
  return chosen.length === 0 ? undefined : { and: chosen.map(([name, value]) => ({ [name]: { eq: value } })) };
}
