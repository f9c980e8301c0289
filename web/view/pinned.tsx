/** Pinned documents: their top terms at an evaluation, and what has changed since the one before. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { EvaluationView, PinnedView } from '../../src/view/index.ts';
import { count, short } from './format.ts';
import type { Run } from './run.ts';

/** The panel. */
export function Pinned({ runs }: { runs: readonly Run[] }): JSX.Element {
  const [chosenRun, setChosenRun] = useState<number | null>(null);
  const [chosenStep, setChosenStep] = useState<number | null>(null);
  const able = runs.filter((run) => evaluationsOf(run).length > 0);
  const run = able.find(({ id }) => id === chosenRun) ?? able[0];
  if (!run)
    return (
      <section class="panel full" aria-labelledby="pinned">
        <h3 id="pinned">Pinned documents</h3>
        <p class="none">No evaluation has written the terms of a document yet (`output.pinned` says of which).</p>
      </section>
    );
  const evaluations = evaluationsOf(run);
  const found = evaluations.findIndex(({ step }) => step === chosenStep);
  const at = found < 0 ? evaluations.length - 1 : found;
  const [now, before] = [evaluations[at], evaluations[at - 1]];
  return (
    <section class="panel full" aria-labelledby="pinned">
      <header>
        <h3 id="pinned">Pinned documents</h3>
        {able.length > 1 && (
          <label>
            run{' '}
            <select value={run.id} onChange={({ currentTarget }) => setChosenRun(Number(currentTarget.value))}>
              {able.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
      </header>
      <label class="slider">
        <span>after step {count(now.step)}</span>
        <input
          type="range"
          min={0}
          max={evaluations.length - 1}
          value={at}
          aria-valuetext={`step ${now.step}`}
          onInput={({ currentTarget }) => {
            const next = Number(currentTarget.value);
            setChosenStep(next === evaluations.length - 1 ? null : evaluations[next].step);
          }}
        />
      </label>
      <div class="pinned">
        {now.pinned.map((document) => (
          <PinnedDocument
            key={document.id}
            now={document}
            before={before?.pinned.find(({ id }) => id === document.id)}
          />
        ))}
      </div>
    </section>
  );
}

function evaluationsOf({ details }: Run): readonly EvaluationView[] {
  return (details?.evaluations ?? []).filter(({ pinned }) => pinned.length > 0);
}

function PinnedDocument({ now, before }: { now: PinnedView; before: PinnedView | undefined }): JSX.Element {
  const weightsBefore = new Map(before?.terms);
  const most = Math.max(0, ...now.terms.map(([, weight]) => weight));
  const gone = (before?.terms ?? []).filter(([token]) => !now.terms.some(([own]) => own === token));
  return (
    <article>
      <h4>
        {now.id}{' '}
        <small>
          {count(now.numTerms)} terms
          {before && before.numTerms !== now.numTerms && `, before ${count(before.numTerms)}`}
        </small>
      </h4>
      <p class="text">{now.text}</p>
      {now.terms.length === 0 && <p class="none">No term is active.</p>}
      <ol class="terms">
        {now.terms.map(([token, weight]) => (
          <Term
            key={token}
            token={token}
            weight={weight}
            share={weight / most}
            before={before && (weightsBefore.get(token) ?? 0)}
          />
        ))}
      </ol>
      {gone.length > 0 && (
        <p class="gone">
          no longer among them: <s>{gone.map(([token]) => token).join(' ')}</s>
        </p>
      )}
    </article>
  );
}

type TermProps = { token: string; weight: number; share: number; before: number | undefined };

function Term({ token, weight, share, before }: TermProps): JSX.Element {
  return (
    <li>
      <span class="bar" style={{ width: `${100 * share}%` }} />
      <span class="token">{token}</span>
      <span class="weight">
        <Change now={weight} before={before} /> {short(weight)}
      </span>
    </li>
  );
}

function Change({ now, before }: { now: number; before: number | undefined }): JSX.Element | null {
  if (before === undefined) return null;
  if (before === 0) return <b class="new">new</b>;
  if (Math.abs(now - before) < 0.02 * before) return null;
  return now > before ? (
    <span role="img" aria-label="higher than before">
      ▲
    </span>
  ) : (
    <span role="img" aria-label="lower than before">
      ▼
    </span>
  );
}
