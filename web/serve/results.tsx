/** The hits of one system, with why each was found, and where the other system has it. */
import type { JSX } from 'preact';
import type { Explanation, Hit, SearchAnswer } from './api.ts';
import { Highlighted } from './highlighted.tsx';
import { systemLabel } from './question.ts';
import { Why } from './why.tsx';

/** How one system has answered. */
export type Answered =
  | { readonly state: 'waiting' }
  | { readonly state: 'failed'; readonly message: string }
  | { readonly state: 'done'; readonly answer: SearchAnswer };

type ResultsProps = {
  readonly system: string;
  readonly answered: Answered;
  /** Ranks by id in the other system; undefined where there is no other. */
  readonly otherRanks: ReadonlyMap<string, number> | undefined;
  /** Asks for what a search does not tell of a hit; undefined where it tells all. */
  readonly onExplain: ((id: string) => Promise<Explanation>) | undefined;
};

/** A column of hits. */
export function Results({ system, answered, otherRanks, onExplain }: ResultsProps): JSX.Element {
  const label = systemLabel(system);
  return (
    <section class="results" aria-label={`Results of ${label}`}>
      <h2>
        {label} <small role="status">{summaryOf(answered)}</small>
      </h2>
      {answered.state === 'failed' && <p class="notice">{answered.message}</p>}
      {answered.state === 'done' && (
        <ol>
          {answered.answer.hits.map((hit) => (
            <HitItem key={hit.id} hit={hit} otherRanks={otherRanks} onExplain={onExplain} />
          ))}
        </ol>
      )}
    </section>
  );
}

function summaryOf(answered: Answered): string {
  if (answered.state === 'waiting') return 'searching …';
  if (answered.state === 'failed') return 'no answer';
  const { hits, tookMs } = answered.answer;
  return `${hits.length === 0 ? 'no hits' : `${hits.length} ${hits.length === 1 ? 'hit' : 'hits'}`} in ${tookMs.toFixed(1)} ms`;
}

type HitProps = Pick<ResultsProps, 'otherRanks' | 'onExplain'> & { readonly hit: Hit };

function HitItem({ hit, otherRanks, onExplain }: HitProps): JSX.Element {
  const { id, score, title, url, snippet, explain = [] } = hit;
  const heading = title ? <Highlighted text={title} places={snippet?.titleHighlights ?? []} /> : id;
  const address = safeAddress(url);
  return (
    <li>
      <h3>{address === undefined ? heading : <a href={address}>{heading}</a>}</h3>
      <p class="place">
        <span>{score.toFixed(3)}</span>
        <span>{id}</span>
        {otherRanks && <span>{otherPlace(otherRanks.get(id))}</span>}
      </p>
      {snippet && (
        <p>
          {snippet.isCut.before && '… '}
          <Highlighted text={snippet.text} places={snippet.highlights} />
          {snippet.isCut.after && ' …'}
        </p>
      )}
      {snippet && snippet.expansion.length > 0 && (
        <p class="meaning">found by meaning: {snippet.expansion.slice(0, 12).join(', ')}</p>
      )}
      {explain.length > 0 && <Why explain={explain} ask={onExplain && (() => onExplain(id))} />}
    </li>
  );
}

/** Documents may say anything of their address: only pages of the web become links. */
export function safeAddress(url: string | undefined): string | undefined {
  return url !== undefined && /^https?:\/\//i.test(url) ? url : undefined;
}

function otherPlace(rank: number | undefined): string {
  return rank === undefined ? 'not in the other list' : `place ${rank} in the other list`;
}
