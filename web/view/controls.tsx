/** What all charts over steps have in common: smoothing, scale, axis, and which part is shown. */
import type { JSX } from 'preact';
import type { ChartOptions } from './options.ts';

type ControlsProps = {
  readonly options: ChartOptions;
  readonly onOptions: (change: Partial<ChartOptions>) => void;
  readonly onZoom: (factor: number) => void;
  readonly onPan: (share: number) => void;
};

/** Largest smoothing: the average of 2¹⁰ logged steps. */
const MAX_POWER = 10;

/** The toolbar. */
export function Controls({ options, onOptions, onZoom, onPan }: ControlsProps): JSX.Element {
  const { axis, window, isLog, range } = options;
  const isAll = range === null;
  return (
    <form class="controls" aria-label="Charts" onSubmit={(event) => event.preventDefault()}>
      <label class="slider">
        <span>smoothing: {window === 1 ? 'none' : `${window.toLocaleString('en')} lines`}</span>
        <input
          type="range"
          min={0}
          max={MAX_POWER}
          value={Math.log2(window)}
          aria-valuetext={window === 1 ? 'none' : `${window} lines`}
          onInput={({ currentTarget }) => onOptions({ window: 2 ** Number(currentTarget.value) })}
        />
      </label>
      <label>
        by{' '}
        <select
          value={axis}
          onChange={({ currentTarget }) =>
            onOptions({ axis: currentTarget.value === 'time' ? 'time' : 'step', range: null })
          }
        >
          <option value="step">step</option>
          <option value="time">training time</option>
        </select>
      </label>
      <label>
        <input type="checkbox" checked={isLog} onChange={() => onOptions({ isLog: !isLog })} /> log scale
      </label>
      <span class="buttons">
        <button type="button" onClick={() => onZoom(0.5)} aria-label="Zoom in">
          +
        </button>
        <button type="button" onClick={() => onZoom(2)} disabled={isAll} aria-label="Zoom out">
          −
        </button>
        <button type="button" onClick={() => onPan(-0.5)} disabled={isAll} aria-label="Earlier">
          ←
        </button>
        <button type="button" onClick={() => onPan(0.5)} disabled={isAll} aria-label="Later">
          →
        </button>
        <button type="button" onClick={() => onOptions({ range: null })} disabled={isAll}>
          all
        </button>
      </span>
    </form>
  );
}
