/** The page. */
import type { JSX } from 'preact';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { Controls } from './controls.tsx';
import { count } from './format.ts';
import { Frontier } from './frontier.tsx';
import { Lengths } from './lengths.tsx';
import { type Connection, followRuns, type LiveState } from './live.ts';
import { chartsOf } from './metrics.ts';
import { type ChartOptions, extentOf, panned, type Range, zoomed } from './options.ts';
import { Pinned } from './pinned.tsx';
import type { Run } from './run.ts';
import { RunsTable } from './runs-table.tsx';
import { Settings } from './settings.tsx';
import { useTheme } from './theme.ts';
import { TimeChart } from './time-chart.tsx';

const CONNECTIONS: Readonly<Record<Connection, string>> = {
  connecting: 'connecting …',
  live: 'live',
  lost: 'connection lost, trying again',
};

/** Everything. */
export function App(): JSX.Element {
  const theme = useTheme();
  const [{ connection, runs, revision }, setLive] = useState<LiveState>({
    connection: 'connecting',
    runs: [],
    revision: 0,
  });
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const [options, setOptions] = useState<ChartOptions>({ axis: 'step', window: 1, isLog: false, range: null });
  const unsmoothed = useMemo(() => ({ ...options, window: 1 }), [options]);
  useEffect(() => followRuns(setLive), []);
  const shown = useMemo(() => runs.filter(({ id }) => !hidden.has(id)), [runs, hidden]);
  const change = useCallback((part: Partial<ChartOptions>) => setOptions((before) => ({ ...before, ...part })), []);
  const onRange = useCallback((range: Range | null) => change({ range }), [change]);
  const move = (way: typeof zoomed, amount: number): void => {
    const all = extentOf(shown, options.axis);
    change({ range: way(options.range ?? all, amount, all) });
  };
  const onKey = (key: string, isShifted: boolean): boolean => {
    if (key === '+' || key === '=') move(zoomed, 0.5);
    else if (key === '-') move(zoomed, 2);
    else if (key === '0' || key === 'Escape') onRange(null);
    else if (isShifted && key === 'ArrowLeft') move(panned, -0.25);
    else if (isShifted && key === 'ArrowRight') move(panned, 0.25);
    else return false;
    return true;
  };
  useEffect(() => {
    document.title = titleOf(runs);
  }, [runs, revision]);
  const toggle = (id: number): void => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    setHidden(next);
  };
  return (
    <>
      <header class="top">
        <h1>lzero view</h1>
        <p class={`connection ${connection}`} role="status">
          {CONNECTIONS[connection]}
        </p>
      </header>
      <main>
        <Notices runs={runs} />
        <RunsTable runs={runs} hidden={hidden} theme={theme} onToggle={toggle} />
        <Controls
          options={options}
          onOptions={change}
          onZoom={(factor) => move(zoomed, factor)}
          onPan={(share) => move(panned, share)}
        />
        <h2>Curves</h2>
        <div class="charts">
          {chartsOf(shown).map((metric) => (
            <TimeChart
              key={metric.name}
              metric={metric}
              runs={shown.filter(({ rows }) => rows.column(metric.name))}
              revision={revision}
              options={metric.isSchedule ? unsmoothed : options}
              theme={theme}
              onRange={onRange}
              onKey={onKey}
            />
          ))}
        </div>
        <h2>Quality, lengths, documents</h2>
        <div class="charts">
          <Frontier runs={shown} theme={theme} isLog={options.isLog} />
          <Lengths runs={shown} revision={revision} theme={theme} />
          <Pinned runs={shown} />
          <Settings runs={shown} />
        </div>
      </main>
      <footer>
        Drag over a chart to zoom, double-click for all; by keys: ← → move the cursor, + − zoom, shift + ← → pan, 0
        shows all. Time is that of the steps, without evaluations and pauses.
      </footer>
    </>
  );
}

function titleOf(runs: readonly Run[]): string {
  const running = runs.find(({ head }) => head.state === 'running');
  if (!running || running.rows.numRows === 0) return 'lzero view';
  return `${count(running.rows.last('step'))} of ${count(running.numSteps)} · lzero view`;
}

/** Collapses, folders that cannot be read, lines that cannot be understood. */
function Notices({ runs }: { runs: readonly Run[] }): JSX.Element {
  return (
    <div role="status">
      {runs.map(({ id, name, details }) => (
        <div key={id}>
          {details?.alarms.map(({ step, message }) => (
            <p class="notice alarm" key={`${step} ${message}`}>
              <b>✕ {name} has collapsed</b> after step {count(step)}: {message}
            </p>
          ))}
          {details?.problem && (
            <p class="notice alarm">
              <b>{name} cannot be read:</b> {details.problem}
            </p>
          )}
          {details && details.numBadLines > 0 && (
            <p class="notice">
              {name}: {count(details.numBadLines)} lines of metrics.jsonl could not be understood and are left out.
            </p>
          )}
        </div>
      ))}
    </div>
  );
}
