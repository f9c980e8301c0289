/** Figures 1 to 3 as data. Error bars are over seeds, where a setting has several; points that have collapsed are marked. */
import { mean } from '../eval/index.ts';
import type { Figure, FigurePoint, FigureSeries } from '../figures/index.ts';
import {
  collapsedLength,
  collapseOf,
  livingRuns,
  lostText,
  type Measurements,
  macro,
  type Setting,
} from './measurements.ts';
import { PUBLISHED_COLLAPSE, PUBLISHED_LAMBDA, type PublishedCosts, TABLE2, TABLE3 } from './published.ts';
import { VARIANTS, type Variant } from './variant.ts';

const LAMBDA_SERIES = ['baseline', 'mask', 'l0', 'mask-l0'] as const;
const FLOPS = { label: 'FLOPS', scale: 'log' } as const;
const NDCG = { label: 'NDCG@10, macro average', scale: 'linear' } as const;

/** The figures of which something has been measured. */
export function figuresOf(measurements: Measurements): Figure[] {
  return [figure1(measurements), figure2(measurements), figure3(measurements)].filter(({ series }) =>
    series.some(({ kind, points }) => kind === 'measured' && points.length > 0),
  );
}

function figure1({ settings: { figure1, collapse } }: Measurements): Figure {
  const settings = [...figure1, ...collapse];
  return {
    id: 'figure1',
    title: 'Figure 1. Search relevance against efficiency, varying λ',
    caption:
      'Each point is a λ, macro averages over the sets. A cross marks a run that has collapsed. Published: the rows of Table 2, on 13 sets of BEIR.',
    x: FLOPS,
    y: NDCG,
    series: [
      ...LAMBDA_SERIES.map((variant) => seriesOf(variant, settings, (own) => flopsPoint(own, `λ ${own.lambda}`))),
      ...publishedSeries(({ flops, ndcg }, label) => ({ x: flops, y: ndcg / 100, label })),
    ],
    pareto: { x: 'less', y: 'more' },
  };
}

function figure2({ settings: { figure1, collapse } }: Measurements): Figure {
  const settings = [...figure1, ...collapse];
  const published = publishedSeries(({ docLen }, label) => ({ x: PUBLISHED_LAMBDA, y: docLen, label }));
  const cross = { x: PUBLISHED_COLLAPSE, y: 0, label: `λ ${PUBLISHED_COLLAPSE}`, isCollapsed: true };
  return {
    id: 'figure2',
    title: 'Figure 2. λ against encoded document sparsity',
    caption: `Doc_Len, macro average over the sets. A cross marks a run that has collapsed: its documents have lost their terms. Published: the rows of Table 2; of the mask alone the paper prints no λ, and ${PUBLISHED_LAMBDA} is assumed.`,
    x: { label: 'λ', scale: 'log' },
    y: { label: 'Doc_Len', scale: 'linear' },
    series: [
      ...LAMBDA_SERIES.map((variant) => seriesOf(variant, settings, lengthPoint)),
      ...published.map((own) => (own.name === VARIANTS.baseline ? { ...own, points: [...own.points, cross] } : own)),
    ],
  };
}

function figure3({ settings: { figure3, unmasked } }: Measurements): Figure {
  const limit = (variant: Variant) => seriesOf(variant, unmasked, (own) => flopsPoint(own, 'without the mask: t → 0'));
  const byThreshold = (variant: Variant) => seriesOf(variant, figure3, (own) => flopsPoint(own, `t ${own.threshold}`));
  return {
    id: 'figure3',
    title: 'Figure 3. Search relevance against sparsity, varying t',
    caption: `Each point is a t, λ ${figure3[0]?.lambda}, macro averages over the sets. The paper prints no numbers for it.`,
    x: FLOPS,
    y: NDCG,
    // In the order of Figure 1: colours and shapes go by it.
    series: [limit('baseline'), byThreshold('mask'), limit('l0'), byThreshold('mask-l0')],
    pareto: { x: 'less', y: 'more' },
  };
}

function seriesOf(
  variant: Variant,
  settings: readonly Setting[],
  pointOf: (setting: Setting) => FigurePoint | undefined,
): FigureSeries {
  const own = settings.filter((setting) => setting.variant === variant);
  own.sort((a, b) => a.lambda - b.lambda || (a.threshold ?? 0) - (b.threshold ?? 0));
  return { name: VARIANTS[variant], kind: 'measured', points: own.map(pointOf).filter((point) => point !== undefined) };
}

/** FLOPS and NDCG; where documents have no terms, both are 0. Undefined where nothing has been measured, or all has diverged. */
function flopsPoint(setting: Setting, plain: string): FigurePoint | undefined {
  const label = labelOf(setting, plain);
  if (collapseOf(setting) === 'all') return { x: 0, y: 0, label, isCollapsed: true };
  const [xs, ys] = (['flops', 'ndcg'] as const).map((value) => livingRuns(setting).map((run) => macro(run, value)));
  if (xs.length === 0) return undefined;
  return { x: mean(xs), y: mean(ys), ...barsOf('x', xs), ...barsOf('y', ys), label };
}

function lengthPoint(setting: Setting): FigurePoint | undefined {
  const label = labelOf(setting, `λ ${setting.lambda}`);
  if (collapseOf(setting) === 'all')
    return { x: setting.lambda, y: collapsedLength(setting), label, isCollapsed: true };
  const lengths = livingRuns(setting).map((run) => macro(run, 'docLen'));
  if (lengths.length === 0) return undefined;
  return { x: setting.lambda, y: mean(lengths), ...barsOf('y', lengths), label };
}

/** Says what its point does not show: seeds that are not in the mean. */
function labelOf(setting: Setting, plain: string): string {
  const lost = lostText(setting);
  return lost === '' ? plain : `${plain} (${lost})`;
}

/** Smallest and largest, where there are several. */
function barsOf(axis: 'x' | 'y', values: readonly number[]): Pick<FigurePoint, 'xLow' | 'xHigh' | 'yLow' | 'yHigh'> {
  if (values.length < 2) return {};
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return axis === 'x' ? { xLow: low, xHigh: high } : { yLow: low, yHigh: high };
}

/** Table 2, a series of one point each: they go by the names and colours of those that were measured. */
function publishedSeries(pointOf: (costs: PublishedCosts, label: string) => FigurePoint): FigureSeries[] {
  return [...TABLE2].map(([variant, costs]) => ({
    name: VARIANTS[variant],
    kind: 'published',
    points: [pointOf(costs, `λ ${PUBLISHED_LAMBDA}${TABLE3.has(variant) ? '' : ' (assumed)'}`)], // printed for Table 3 only
  }));
}
