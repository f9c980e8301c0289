/** Quality against cost: NDCG@10 over FLOPS, a point an evaluation, a line a run in the order of its steps. */
import type { JSX } from 'preact';
import type { EvaluationView } from '../../src/view/index.ts';
import { Figure, type FigureSpec } from './figure.tsx';
import { count, short } from './format.ts';
import { useWidth } from './place.ts';
import type { Run } from './run.ts';
import { SaveButtons } from './save.tsx';
import { LIGHT, strokeOf, type Theme } from './theme.ts';

const QUALITY = 'ndcg@10';
const COST = 'flops';

type FrontierProps = { readonly runs: readonly Run[]; readonly theme: Theme; readonly isLog: boolean };

/** The panel, with a table of the same numbers. */
export function Frontier({ runs, theme, isLog }: FrontierProps): JSX.Element {
  const [place, width] = useWidth();
  const evaluated = runs.filter((run) => evaluationsOf(run).length > 0);
  const spec = (size: { width: number; height: number }, colours: Theme): FigureSpec =>
    figureOf({ runs: evaluated, theme: colours, isLog }, size);
  return (
    <section class="panel wide" aria-labelledby="frontier">
      <header>
        <h3 id="frontier">NDCG@10 against FLOPS</h3>
        {evaluated.length > 0 && (
          <SaveButtons name="ndcg-flops" figure={() => spec({ width: 720, height: 420 }, LIGHT)} />
        )}
      </header>
      <div class="drawing" ref={place}>
        {evaluated.length === 0 ? (
          <p class="none">No evaluation yet. A configuration with an `evaluate` section has some.</p>
        ) : (
          <Figure {...spec({ width, height: 280 }, theme)} />
        )}
      </div>
      {evaluated.length > 0 && <EvaluationTable runs={evaluated} />}
    </section>
  );
}

function evaluationsOf({ details }: Run): readonly EvaluationView[] {
  return (details?.evaluations ?? []).filter(
    ({ values }) => Number.isFinite(values[QUALITY]) && Number.isFinite(values[COST]),
  );
}

function figureOf(
  { runs, theme, isLog }: FrontierProps,
  { width, height }: { readonly width: number; readonly height: number },
): FigureSpec {
  const all = runs.flatMap(evaluationsOf);
  const costs = all.map(({ values }) => values[COST]);
  const qualities = all.map(({ values }) => values[QUALITY]);
  const canLog = isLog && Math.min(...costs) > 0;
  return {
    title: 'NDCG@10 against FLOPS',
    width,
    height,
    theme,
    x: { label: 'FLOPS', ...rangeOf(costs, canLog), isLog: canLog, format: short },
    y: { label: 'NDCG@10', ...rangeOf(qualities, false), format: short },
    series: runs.map((run) => {
      const own = evaluationsOf(run);
      return {
        id: run.id,
        name: run.name,
        ...strokeOf(theme, run.id),
        points: own.map(({ values }) => [values[COST], values[QUALITY]] as const),
        dots: own.map(({ step, values }, i) => ({
          x: values[COST],
          y: values[QUALITY],
          title: `${run.name}, step ${count(step)}: NDCG@10 ${short(values[QUALITY])}, FLOPS ${short(values[COST])}`,
          isLast: i === own.length - 1,
        })),
      };
    }),
  };
}

function rangeOf(values: readonly number[], isLog: boolean): { from: number; to: number } {
  const [least, greatest] = [Math.min(...values), Math.max(...values)];
  if (isLog) return { from: least / 1.2, to: greatest * 1.2 };
  const room = 0.08 * (greatest - least) || 0.1 * greatest || 1;
  return { from: Math.max(0, least - room), to: greatest + room };
}

const COLUMNS = [QUALITY, 'mrr@10', 'recall@100', COST, 'docLen', 'queryLen'];

function EvaluationTable({ runs }: { runs: readonly Run[] }): JSX.Element {
  return (
    <details>
      <summary>All evaluations as a table</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolls sideways by keys on small screens */}
      <section class="scroll" tabIndex={0} aria-label="Evaluations">
        <table>
          <thead>
            <tr>
              <th scope="col">run</th>
              <th scope="col">step</th>
              {COLUMNS.map((name) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {runs.flatMap((run) =>
              evaluationsOf(run).map(({ step, values }) => (
                <tr key={`${run.id} ${step}`}>
                  <th scope="row">{run.name}</th>
                  <td>{count(step)}</td>
                  {COLUMNS.map((name) => (
                    <td key={name}>{short(values[name])}</td>
                  ))}
                </tr>
              )),
            )}
          </tbody>
        </table>
      </section>
    </details>
  );
}
