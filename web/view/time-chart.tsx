/** A metric over steps or time, one line a run: drawn by uPlot, moved by mouse and keys, saved as SVG or PNG. */
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { type AlignedCurves, align, type Curve } from './curves.ts';
import { drawNever, drawSoon } from './draw-queue.ts';
import type { FigureSpec } from './figure.tsx';
import { count, duration } from './format.ts';
import type { MetricChart } from './metrics.ts';
import { type ChartOptions, extentOf, type Range } from './options.ts';
import type { Axis, Run } from './run.ts';
import { SaveButtons } from './save.tsx';
import { LIGHT, strokeOf, swatchOf, type Theme } from './theme.ts';

/** What a chart is given. */
export type TimeChartProps = {
  readonly metric: MetricChart;
  readonly runs: readonly Run[];
  /** Grows with the runs. */
  readonly revision: number;
  readonly options: ChartOptions;
  readonly theme: Theme;
  readonly onRange: (range: Range | null) => void;
  readonly onKey: (key: string, isShifted: boolean) => boolean;
};

const HEIGHT = 220;
const LONGEST_WAIT_MS = 10_000;
const FONT = '12px system-ui, sans-serif';

/** The chart. */
export function TimeChart(props: TimeChartProps): JSX.Element {
  const { metric, runs, options, theme } = props;
  const place = useRef<HTMLDivElement>(null);
  const readout = useRef<HTMLUListElement>(null);
  const spoken = useRef<HTMLParagraphElement>(null);
  const drawn = useRef<Plot>(undefined);
  const kind = [metric.name, options.isLog, options.axis, options.window > 1, theme.paper, ...runs.map(({ id }) => id)];
  useLayoutEffect(() => {
    if (!place.current) return;
    const plot = new Plot(place.current, props, readout.current);
    drawn.current = plot;
    return () => plot.destroy();
  }, [kind.join(' ')]);
  useEffect(() => drawn.current?.update(props));
  const onKeyDown = (event: KeyboardEvent): void => {
    const plot = drawn.current;
    if (!plot || event.ctrlKey || event.metaKey || event.altKey) return;
    const isMove = (event.key === 'ArrowLeft' || event.key === 'ArrowRight') && !event.shiftKey;
    if (isMove) {
      const text = plot.moveCursor(event.key === 'ArrowLeft' ? -1 : 1);
      if (spoken.current) spoken.current.textContent = text;
    }
    if (isMove || props.onKey(event.key, event.shiftKey)) event.preventDefault();
  };
  const id = `chart-${metric.name.replace(/\W/g, '-')}`;
  return (
    <section class="panel" aria-labelledby={id}>
      <header>
        <h3 id={id}>{metric.title}</h3>
        <SaveButtons name={metric.name} figure={() => drawn.current && figureOf(props)} />
      </header>
      <ul class="readout" ref={readout}>
        {runs.map(({ id, name }) => (
          <li key={id}>
            <span class="swatch" style={{ background: swatchOf(theme, id) }} />
            {runs.length > 1 && <span class="name">{name}</span>}
            <output class="value" />
          </li>
        ))}
      </ul>
      <div
        class="plot"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys move the cursor and the part that is shown
        tabIndex={0}
        role="application"
        aria-label={describe(props)}
        onKeyDown={onKeyDown}
        ref={place}
      />
      <p class="hidden" aria-live="polite" ref={spoken} />
    </section>
  );
}

function describe({ metric, runs, options }: TimeChartProps): string {
  const values = runs.map(({ name, rows }) => `${name} ${metric.format(rows.last(metric.name))}`);
  return `${metric.title} by ${options.axis}, last ${values.join(', ')}. Arrow keys move the cursor, plus and minus zoom.`;
}

/** Curves of the runs, smoothed ones after the others where that is wanted. */
function curvesOf({ metric, runs, options: { axis, window } }: TimeChartProps): Curve[] {
  const none: Curve = { xs: new Float64Array(), ys: new Float64Array(), numPoints: 0 };
  const at = (width: number): Curve[] => runs.map((run) => run.curve(metric.name, { axis, window: width }) ?? none);
  return window > 1 ? [...at(1), ...at(window)] : at(1);
}

function alignedCurves(props: TimeChartProps, width: number): AlignedCurves & { readonly range: Range } {
  const { runs, options } = props;
  const range = options.range ?? extentOf(runs, options.axis);
  const { xs, ys } = align(curvesOf(props), { from: range[0], to: range[1], width });
  const above = (values: (number | null)[]) => values.map((y) => (y !== null && y > 0 ? y : null));
  return { xs, ys: options.isLog ? ys.map(above) : ys, range };
}

/** Steps or time along the axis. */
function axisFormat(axis: Axis, greatest = 0): (value: number) => string {
  if (axis === 'time') return duration;
  return greatest < 10_000 ? count : (step) => (step === 0 ? '0' : `${(step / 1000).toLocaleString('en')}k`);
}

/** Where the runs have collapsed. */
function alarmsOf({ runs, options }: TimeChartProps): { readonly x: number; readonly name: string }[] {
  return runs.flatMap((run) =>
    (run.details?.alarms ?? []).map(({ step }) => ({ x: run.place(step, options.axis), name: run.name })),
  );
}

/** uPlot, and what it does not do by itself. */
class Plot {
  readonly #place: HTMLElement;
  readonly #readout: HTMLElement | null;
  readonly #plot: uPlot;
  readonly #resizes: ResizeObserver;
  readonly #sight: IntersectionObserver;
  #props: TimeChartProps;
  #isSeen = true;
  #isStale = false;
  #drawn = { numRows: 0, atMs: Number.NEGATIVE_INFINITY };

  constructor(place: HTMLElement, props: TimeChartProps, readout: HTMLElement | null) {
    this.#place = place;
    this.#readout = readout;
    this.#props = props;
    const width = Math.max(100, place.clientWidth);
    this.#plot = new uPlot(this.#settings(width), [[], ...curvesOf(props).map(() => [])], place);
    this.#plot.root.querySelector('canvas')?.setAttribute('aria-hidden', 'true');
    this.#resizes = new ResizeObserver(() => this.#resize());
    this.#resizes.observe(place);
    this.#sight = new IntersectionObserver(([{ isIntersecting }]) => {
      this.#isSeen = isIntersecting;
      if (isIntersecting && this.#isStale) drawSoon(this);
    });
    this.#sight.observe(place);
    this.#place.addEventListener('wheel', this.#wheel, { passive: false });
  }

  /** Shows what the runs have now; a chart out of sight waits until it is seen. */
  update(props: TimeChartProps): void {
    const isSameView = props.options === this.#props.options && props.runs.length === this.#props.runs.length;
    const hasNewData = props.revision !== this.#props.revision || !isSameView;
    this.#props = props;
    if (!this.#isSeen) this.#isStale ||= hasNewData;
    else if (isSameView && this.#isTooEarly()) this.#show(this.#plot.cursor.idx ?? null);
    else drawSoon(this);
  }

  /** Whether the rows that have come would not move the drawing by a pixel. Then it waits, but not for ever. */
  #isTooEarly(): boolean {
    const numNew = this.#numRows() - this.#drawn.numRows;
    const isSmall = numNew >= 0 && numNew * this.#plot.over.clientWidth < this.#drawn.numRows;
    return isSmall && performance.now() - this.#drawn.atMs < LONGEST_WAIT_MS;
  }

  #numRows(): number {
    return this.#props.runs.reduce((sum, { rows }) => sum + rows.numRows, 0);
  }

  /** Moves the cursor by a hundredth of the width, and says what is there. */
  moveCursor(direction: 1 | -1): string {
    const { left = -1 } = this.#plot.cursor;
    const { clientWidth } = this.#plot.over;
    const begin = left < 0 ? (direction > 0 ? 0 : clientWidth) : left;
    const next = Math.min(clientWidth - 1, Math.max(0, begin + (direction * clientWidth) / 100));
    this.#plot.setCursor({ left: next, top: 10 });
    return this.#readoutAt(this.#plot.cursor.idx ?? null).join(', ');
  }

  destroy(): void {
    drawNever(this);
    this.#resizes.disconnect();
    this.#sight.disconnect();
    this.#place.removeEventListener('wheel', this.#wheel);
    this.#plot.destroy();
  }

  readonly #wheel = (event: WheelEvent): void => {
    if (!event.ctrlKey) return; // the page scrolls
    event.preventDefault();
    this.#props.onKey(event.deltaY < 0 ? '+' : '-', false);
  };

  #resize(): void {
    const width = Math.max(100, this.#place.clientWidth);
    if (width === this.#plot.width) return;
    this.#plot.setSize({ width, height: HEIGHT });
    drawSoon(this);
  }

  /** Draws what there is. */
  draw(): void {
    this.#isStale = false;
    this.#drawn = { numRows: this.#numRows(), atMs: performance.now() };
    const plot = this.#plot;
    const { xs, ys, range } = alignedCurves(this.#props, Math.max(50, plot.over.clientWidth));
    plot.batch(() => {
      plot.setData([xs, ...ys], false);
      plot.setScale('x', { min: range[0], max: range[1] });
    });
    this.#show(plot.cursor.idx ?? null);
  }

  #show(at: number | null): void {
    const texts = this.#readoutAt(at);
    this.#readout?.querySelectorAll('.value').forEach((element, i) => {
      if (element.textContent !== texts[i]) element.textContent = texts[i];
    });
  }

  /** What each run has at a position, or last. */
  #readoutAt(at: number | null): string[] {
    const { runs, metric, options } = this.#props;
    const { data } = this.#plot;
    const first = 1 + (options.window > 1 ? runs.length : 0);
    const isInside = at !== null && this.#plot.cursor.left !== undefined && this.#plot.cursor.left >= 0;
    const where = isInside ? ` at ${axisFormat(options.axis)(Math.round(data[0][at]))}` : '';
    return runs.map((run, i) => {
      if (!isInside) return metric.format(run.rows.last(metric.name));
      const values = data[first + i];
      let k = at;
      while (k > 0 && values[k] === null) k--;
      return `${metric.format(values[k] ?? Number.NaN)}${where}`;
    });
  }

  #settings(width: number): uPlot.Options {
    const { runs, options, theme, metric } = this.#props;
    const axis = { font: FONT, stroke: theme.quiet, grid: { stroke: theme.grid, width: 1 }, ticks: { show: false } };
    const isSmoothed = options.window > 1;
    const line = (run: Run, isFaint: boolean): uPlot.Series => ({
      stroke: strokeOf(theme, run.id).colour,
      dash: strokeOf(theme, run.id).dash.map((length) => length * devicePixelRatio),
      width: isFaint ? 1 : 1.8,
      alpha: isFaint ? 0.3 : 1,
      auto: !isFaint, // outliers of single lines do not flatten the smoothed ones
      spanGaps: true,
      points: isFaint ? { show: false } : { size: 5 },
    });
    const lines = runs.map((run) => line(run, isSmoothed));
    return {
      width,
      height: HEIGHT,
      legend: { show: false },
      padding: [8, 16, 0, 0],
      series: [{}, ...lines, ...(isSmoothed ? runs.map((run) => line(run, false)) : [])],
      scales: { x: { time: false, auto: false }, y: { distr: options.isLog ? 3 : 1, range: yRange(options.isLog) } },
      axes: [
        { ...axis, size: 28, values: (_, ticks) => ticks.map(axisFormat(options.axis, ticks.at(-1))) },
        { ...axis, size: 58, values: (_, ticks) => ticks.map((tick) => (tick === null ? '' : metric.format(tick))) },
      ],
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false, dist: 6 },
        points: { size: 7 },
        sync: { key: 'runs', setSeries: false, filters: { pub: isMove, sub: isMove } },
        bind: { dblclick: () => () => this.#showAll() },
      },
      hooks: {
        setCursor: [(plot) => this.#show(plot.cursor.idx ?? null)],
        setSelect: [(plot) => this.#select(plot)],
        draw: [(plot) => drawAlarms(plot, this.#props)],
      },
    };
  }

  #showAll(): null {
    this.#props.onRange(null);
    return null;
  }

  #select(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 6) return;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.#props.onRange([plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')]);
  }
}

function isMove(type: string): boolean {
  return type === 'mousemove' || type === 'mouseleave';
}

/** A little room above and below; a constant in the middle. */
function yRange(isLog: boolean): uPlot.Scale.Range {
  return (_, least, greatest) => {
    if (least === null || greatest === null) return isLog ? [0.1, 1] : [0, 1];
    return paddedRange(least, greatest, isLog);
  };
}

function paddedRange(least: number, greatest: number, isLog: boolean): [number, number] {
  if (isLog) return [least / 1.15, greatest * 1.15];
  const room = 0.06 * (greatest - least) || 0.1 * Math.abs(greatest) || 1;
  return [least >= 0 ? Math.max(0, least - room) : least - room, greatest + room];
}

function drawAlarms(plot: uPlot, props: TimeChartProps): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = props.theme.alarm;
  ctx.fillStyle = props.theme.alarm;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
  for (const { x } of alarmsOf(props)) {
    const left = plot.valToPos(x, 'x', true);
    if (left < bbox.left || left > bbox.left + bbox.width + 1) continue;
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
    const isRight = left > bbox.left + bbox.width / 2;
    ctx.textAlign = isRight ? 'right' : 'left';
    ctx.fillText('collapse', left + (isRight ? -4 : 4) * devicePixelRatio, bbox.top + 12 * devicePixelRatio);
  }
  ctx.restore();
}

const SAVED_WIDTH = 720;

/** The same chart as a drawing, in light colours. */
function figureOf(props: TimeChartProps): FigureSpec {
  const { metric, runs, options } = props;
  const { xs, ys, range } = alignedCurves(props, SAVED_WIDTH);
  const isSmoothed = options.window > 1;
  const counted = (isSmoothed ? ys.slice(runs.length) : ys).flat().filter((y) => y !== null);
  const least = counted.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const greatest = counted.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const [from, to] = least <= greatest ? paddedRange(least, greatest, options.isLog) : [0.1, 1];
  const inside = (y: number): number => Math.min(to, Math.max(from, y));
  return {
    title: metric.title,
    width: SAVED_WIDTH,
    height: 400,
    theme: LIGHT,
    x: { label: options.axis, from: range[0], to: range[1], format: axisFormat(options.axis, range[1]) },
    y: { label: metric.name, from, to, isLog: options.isLog, format: metric.format },
    marks: alarmsOf(props)
      .filter(({ x }) => x >= range[0] && x <= range[1])
      .map(({ x, name }) => ({ x, label: `collapse of ${name}`, colour: LIGHT.alarm })),
    series: ys.map((values, i) => {
      const run = runs[i % runs.length];
      const points = values.flatMap((y, k): [number, number][] =>
        y === null || xs[k] < range[0] || xs[k] > range[1] ? [] : [[xs[k], inside(y)]],
      );
      const isFaint = isSmoothed && i < runs.length;
      return { id: run.id, name: run.name, ...strokeOf(LIGHT, run.id), points, isFaint };
    }),
  };
}
