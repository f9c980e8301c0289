/** How many documents have how many terms: a histogram of each run, at the last logged step or at any before. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { LengthHistogramAt } from '../../src/view/index.ts';
import { binNumber } from './bins.ts';
import { Figure, type FigureMark, type FigureSpec } from './figure.tsx';
import { count } from './format.ts';
import { ask } from './live.ts';
import { useSight, useWidth } from './place.ts';
import { numberAt, type Run } from './run.ts';
import { SaveButtons } from './save.tsx';
import { LIGHT, strokeOf, type Theme } from './theme.ts';

type LengthsProps = { readonly runs: readonly Run[]; readonly revision: number; readonly theme: Theme };
type Shown = { readonly run: Run; readonly histogram: LengthHistogramAt };

/** The panel. */
export function Lengths({ runs, revision, theme }: LengthsProps): JSX.Element {
  const [place, width] = useWidth();
  const isSeen = useSight(place);
  const [chosen, setChosen] = useState<number | null>(null);
  const [shown, setShown] = useState<readonly Shown[]>([]);
  const last = Math.max(0, ...runs.map(({ rows }) => rows.last('step')).filter(Number.isFinite));
  const step = Math.min(chosen ?? last, last);
  const ids = runs.map(({ id }) => id).join(' ');
  useEffect(() => {
    if (!isSeen && shown.length > 0) return; // what nobody sees may be old
    let isOver = false;
    const asked = runs.map(async (run): Promise<Shown[]> => {
      const histogram = await (await ask(`api/runs/${run.id}/lengths?step=${step}`)).json();
      return histogram === null ? [] : [{ run, histogram }];
    });
    Promise.all(asked).then(
      (found) => isOver || setShown(found.flat()),
      () => {}, // the connection is lost, which the page says; it asks again when it is back
    );
    return () => {
      isOver = true;
    };
  }, [ids, step, revision, isSeen]);
  const spec = (size: { width: number; height: number }, colours: Theme) => figureOf(shown, size, colours);
  return (
    <section class="panel wide" aria-labelledby="lengths">
      <header>
        <h3 id="lengths">Doc_Len histogram</h3>
        {shown.length > 0 && (
          <SaveButtons name="doc-len-histogram" figure={() => spec({ width: 720, height: 400 }, LIGHT)} />
        )}
      </header>
      <div class="drawing" ref={place}>
        {shown.length === 0 ? (
          <p class="none">No lengths logged yet.</p>
        ) : (
          <Figure {...spec({ width, height: 260 }, theme)} />
        )}
      </div>
      <label class="slider">
        <span>at step {count(step)}</span>
        <input
          type="range"
          min={0}
          max={last}
          value={step}
          onInput={({ currentTarget }) => {
            const value = Number(currentTarget.value);
            setChosen(value >= last ? null : value);
          }}
        />
      </label>
    </section>
  );
}

function figureOf(shown: readonly Shown[], size: { width: number; height: number }, theme: Theme): FigureSpec {
  const numbers = shown.flatMap(({ histogram }) => histogram.bins.map(binNumber));
  const [from, to] = [Math.max(0, Math.min(...numbers) - 2), Math.max(...numbers) + 3];
  const shares = shown.map(({ histogram: { counts } }) => {
    const numDocs = counts.reduce((sum, own) => sum + own, 0);
    return counts.map((own) => own / numDocs);
  });
  const ticks = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768];
  const byNumber = new Map(ticks.map((length) => [binNumber(length), length]));
  return {
    title: 'Documents by their number of terms',
    ...size,
    theme,
    x: {
      label: 'terms a document',
      from,
      to,
      ticks: [...byNumber.keys()].filter((tick) => tick >= from && tick <= to),
      format: (tick) => count(byNumber.get(tick) ?? Number.NaN),
    },
    y: {
      label: 'share of documents',
      from: 0,
      to: 1.05 * Math.max(0.01, ...shares.flat()),
      format: (share) => `${Number((100 * share).toPrecision(2))} %`,
    },
    marks: marksOf(shown, theme).filter(({ x }) => x > from && x < to),
    series: shown.map(({ run, histogram }, i) => ({
      id: run.id,
      name: `${run.name}, step ${count(histogram.step)}`,
      ...strokeOf(theme, run.id),
      points: stairs(histogram.bins.map(binNumber), shares[i]),
      isFilled: true,
    })),
  };
}

/** Thresholds of the mask: documents left of it are left in peace. */
function marksOf(shown: readonly Shown[], theme: Theme): FigureMark[] {
  const thresholds = new Set(shown.map(({ run }) => numberAt(run.details?.config, 'sparsity', 'threshold')));
  return [...thresholds]
    .filter(Number.isFinite)
    .map((threshold) => ({ x: binNumber(threshold), label: `mask: t = ${threshold}`, colour: theme.quiet }));
}

/** The outline of bars of width 1; bins that are missing have none. */
function stairs(bins: readonly number[], shares: readonly number[]): [number, number][] {
  return bins.flatMap((bin, i): [number, number][] => [
    ...(i === 0 || bins[i - 1] + 1 < bin ? ([[bin, 0]] as [number, number][]) : []),
    [bin, shares[i]],
    [bin + 1, shares[i]],
    ...(i === bins.length - 1 || bins[i + 1] > bin + 1 ? ([[bin + 1, 0]] as [number, number][]) : []),
  ]);
}
