/** The runs: which are drawn and in which colour, how they stand, their newest numbers. */
import type { JSX } from 'preact';
import type { RunState } from '../../src/view/index.ts';
import { count, short } from './format.ts';
import type { Run } from './run.ts';
import { swatchOf, type Theme } from './theme.ts';

const STATES: Readonly<Record<RunState, string>> = {
  waiting: '… no run there yet',
  running: '● running',
  finished: '✓ finished',
  collapsed: '✕ collapsed',
  stopped: '■ stopped',
};

type RunsTableProps = {
  readonly runs: readonly Run[];
  readonly hidden: ReadonlySet<number>;
  readonly theme: Theme;
  readonly onToggle: (id: number) => void;
};

/** The table. */
export function RunsTable({ runs, hidden, theme, onToggle }: RunsTableProps): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolls sideways by keys on small screens
    <section class="scroll" tabIndex={0} aria-label="Runs">
      <table class="runs">
        <thead>
          <tr>
            {['run', 'state', 'step', 'loss', 'Doc_Len', 'best NDCG@10', 'its FLOPS', 'docs/s'].map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id}>
              <th scope="row">
                <label>
                  <input type="checkbox" checked={!hidden.has(run.id)} onChange={() => onToggle(run.id)} />
                  <span class="swatch" style={{ background: swatchOf(theme, run.id) }} />
                  {run.name}
                </label>
              </th>
              <td class={run.head.state}>{STATES[run.head.state]}</td>
              <td>{stepsOf(run)}</td>
              <td>{short(run.rows.last('loss'))}</td>
              <td>{short(run.rows.last('docLen'))}</td>
              <td>{bestOf(run, 'ndcg@10')}</td>
              <td>{bestOf(run, 'flops')}</td>
              <td>{short(run.rows.last('docsPerSecond'))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function stepsOf({ rows, numSteps }: Run): string {
  const step = rows.numRows === 0 ? 0 : rows.last('step');
  return Number.isFinite(numSteps) ? `${count(step)} / ${count(numSteps)}` : count(step);
}

/** Of the evaluation with the highest NDCG@10. */
function bestOf({ details }: Run, name: string): string {
  const all = (details?.evaluations ?? []).filter(({ values }) => Number.isFinite(values['ndcg@10']));
  if (all.length === 0) return '–';
  const best = all.reduce((a, b) => (b.values['ndcg@10'] > a.values['ndcg@10'] ? b : a));
  return short(best.values[name]);
}
