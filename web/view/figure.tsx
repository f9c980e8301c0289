/**
 * A drawing as SVG: what is saved of every chart, and on the page the charts of few points (NDCG against FLOPS, lengths).
 * Plain attributes only, no style sheet: a saved file looks as it does here.
 */
import type { JSX } from 'preact';
import type { Stroke, Theme } from './theme.ts';
import { linearTicks, logTicks } from './ticks.ts';

/** An axis. */
export type FigureAxis = {
  readonly label: string;
  readonly from: number;
  readonly to: number;
  readonly isLog?: boolean;
  /** Where its numbers stand, if not at round ones. */
  readonly ticks?: readonly number[];
  readonly format: (value: number) => string;
};

/** A line, with dots or an area below it where wanted. */
export type FigureSeries = Stroke & {
  /** Of its run. */
  readonly id: number;
  readonly name: string;
  /** Null where the line is broken. */
  readonly points: readonly (readonly [x: number, y: number] | null)[];
  readonly isFaint?: boolean;
  readonly isFilled?: boolean;
  readonly dots?: readonly FigureDot[];
};

/** A point that says what it is. */
export type FigureDot = { readonly x: number; readonly y: number; readonly title: string; readonly isLast?: boolean };

/** A vertical line. */
export type FigureMark = { readonly x: number; readonly label: string; readonly colour: string };

/** A drawing. */
export type FigureSpec = {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly x: FigureAxis;
  readonly y: FigureAxis;
  readonly series: readonly FigureSeries[];
  readonly marks?: readonly FigureMark[];
  readonly theme: Theme;
  /** Title and names of series inside the drawing, as a saved file needs them. */
  readonly isAlone?: boolean;
};

const LEFT = 56;
const RIGHT = 12;
const BOTTOM = 38;
const FONT = 12;

type Frame = { readonly top: number; readonly px: (x: number) => number; readonly py: (y: number) => number };

/** Draws. */
export function Figure(spec: FigureSpec): JSX.Element {
  const { title, width, height, theme, isAlone = false, series, marks = [] } = spec;
  const named = series.filter(({ isFaint }) => !isFaint);
  const top = isAlone ? 30 + 16 * Math.ceil(named.length / 2) : 10;
  const px = positionOn(spec.x, LEFT, width - RIGHT);
  const py = positionOn(spec.y, height - BOTTOM, top);
  const frame = { top, px, py };
  return (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={title}
      font-family="system-ui, sans-serif"
      font-size={FONT}
    >
      {isAlone && <rect width={width} height={height} fill={theme.paper} />}
      {isAlone && <Heading spec={spec} named={named} />}
      <Axes spec={spec} frame={frame} />
      {marks.map(({ x, label, colour }) => (
        <g key={`${x} ${label}`}>
          <path d={`M${px(x)} ${top}V${height - BOTTOM}`} stroke={colour} stroke-dasharray="4 3" />
          <text x={px(x) + 4} y={top + 11} fill={colour}>
            {label}
          </text>
        </g>
      ))}
      {series.map((one) => (
        <Line key={`${one.id} ${one.isFaint}`} series={one} frame={frame} base={height - BOTTOM} />
      ))}
    </svg>
  );
}

function positionOn({ from, to, isLog = false }: FigureAxis, begin: number, end: number): (value: number) => number {
  const at = isLog ? Math.log10 : (value: number): number => value;
  const [low, high] = [at(from), at(to)];
  const scale = high > low ? (end - begin) / (high - low) : 0;
  return (value) => Math.round(10 * (begin + (at(value) - low) * scale)) / 10;
}

function Heading({ spec, named }: { spec: FigureSpec; named: readonly FigureSeries[] }): JSX.Element {
  const { title, width, theme } = spec;
  return (
    <g>
      <text x={LEFT} y={20} fill={theme.ink} font-size={14} font-weight="600">
        {title}
      </text>
      {named.map(({ id, name, colour, dash }, i) => {
        const [x, y] = [LEFT + (i % 2) * ((width - LEFT) / 2), 38 + 16 * Math.floor(i / 2)];
        return (
          <g key={id}>
            <path d={`M${x} ${y - 4}h18`} stroke={colour} stroke-width={3} stroke-dasharray={dashArray(dash)} />
            <text x={x + 24} y={y} fill={theme.ink}>
              {name}
            </text>
          </g>
        );
      })}
    </g>
  );
}

function dashArray(dash: readonly number[]): string | undefined {
  return dash.length === 0 ? undefined : dash.join(' ');
}

function Axes({ spec, frame }: { spec: FigureSpec; frame: Frame }): JSX.Element {
  const { x, y, width, height, theme } = spec;
  const { top, px, py } = frame;
  const bottom = height - BOTTOM;
  const ticksOf = ({ ticks, isLog, from, to }: FigureAxis, most: number): readonly number[] =>
    ticks ?? (isLog ? logTicks(from, to) : linearTicks(from, to, most));
  return (
    <g>
      {ticksOf(y, Math.max(2, (bottom - top) / 45)).map((tick) => (
        <g key={`y${tick}`}>
          <path d={`M${LEFT} ${py(tick)}H${width - RIGHT}`} stroke={theme.grid} />
          <text x={LEFT - 6} y={py(tick) + 4} text-anchor="end" fill={theme.quiet}>
            {y.format(tick)}
          </text>
        </g>
      ))}
      {ticksOf(x, Math.max(2, (width - LEFT) / 80)).map((tick) => (
        <g key={`x${tick}`}>
          <path d={`M${px(tick)} ${top}V${bottom}`} stroke={theme.grid} />
          <text x={px(tick)} y={bottom + 15} text-anchor="middle" fill={theme.quiet}>
            {x.format(tick)}
          </text>
        </g>
      ))}
      <path d={`M${LEFT} ${top}V${bottom}H${width - RIGHT}`} fill="none" stroke={theme.quiet} />
      <text x={(LEFT + width - RIGHT) / 2} y={height - 6} text-anchor="middle" fill={theme.ink}>
        {x.label}
      </text>
      <text transform={`translate(12 ${(top + bottom) / 2}) rotate(-90)`} text-anchor="middle" fill={theme.ink}>
        {y.label}
      </text>
    </g>
  );
}

function Line({ series, frame, base }: { series: FigureSeries; frame: Frame; base: number }): JSX.Element {
  const { points, colour, dash, isFaint = false, isFilled = false, dots = [] } = series;
  const { px, py } = frame;
  let isBroken = true;
  const parts = points.map((point) => {
    if (point === null) {
      isBroken = true;
      return '';
    }
    const part = `${isBroken ? 'M' : 'L'}${px(point[0])} ${py(point[1])}`;
    isBroken = false;
    return part;
  });
  const path = parts.join('');
  const whole = points.filter((point) => point !== null);
  const area = isFilled && whole.length > 0 ? `${path}V${base}H${px(whole[0][0])}Z` : undefined;
  return (
    <g>
      {area && <path d={area} fill={colour} fill-opacity={0.18} />}
      <path
        d={path}
        fill="none"
        stroke={colour}
        stroke-width={isFaint ? 1 : 1.8}
        stroke-opacity={isFaint ? 0.35 : 1}
        stroke-linejoin="round"
        stroke-dasharray={dashArray(dash)}
      />
      {dots.map(({ x, y, title, isLast }, i) => (
        <circle key={`${i} ${title}`} cx={px(x)} cy={py(y)} r={isLast ? 5.5 : 3.5} fill={colour}>
          <title>{title}</title>
        </circle>
      ))}
    </g>
  );
}
