/**
 * The claims of the paper, each with a verdict that is worked out from the measurements: verdict.ts says what the words mean,
 * compare.ts and curve.ts how figures are made. A claim that the paper contradicts itself on stands here twice.
 */
import type { Interval } from '../eval/index.ts';
import { type Comparison, compareCurves, costRatio, difference } from './compare.ts';
import { commonRange, lossOver, meanCostRatio, meanGap } from './curve.ts';
import { isCollapsed, type Measurements, type Setting, settingMean } from './measurements.ts';
import type { SweepName } from './scale.ts';
import { describeKind, VARIANTS, type Variant } from './variant.ts';
import { allOf, judge, judgeEqual, type Side, type Verdict } from './verdict.ts';

/** A claim and what became of it. */
export type Claim = {
  readonly id: string;
  /** In one sentence. */
  readonly claim: string;
  /** Where the paper says it, and its own numbers. */
  readonly paper: string;
  readonly verdict: Verdict;
  /** What the verdict rests on, and what stands beside it. */
  readonly evidence: readonly string[];
};

/** Two NDCG@10 this close are as good as equal: a point. */
export const EQUAL_BOUND = 0.01;

/** Judges every claim. */
export function judgeClaims(measurements: Measurements): Claim[] {
  return [
    maskLifts,
    activationShortens,
    activationHarms,
    activationHelps,
    eachIsCheaper,
    bothDegradeSlowest,
    moreHurts,
    decoupledCosts,
    baselineCollapses,
    risesWithThreshold,
    thresholdBeatsLambda,
    zeroThreshold,
  ].map((make) => make(measurements));
}

function maskLifts(m: Measurements): Claim {
  const gap = compareCurves([series(m, 'mask'), series(m, 'baseline')], ([mask, baseline]) => meanGap(mask, baseline));
  const row = difference(find(m, 'table2', 'mask'), find(m, 'table2', 'baseline'));
  return {
    id: 'mask-lifts',
    claim: 'The ℓ0 mask lifts NDCG@10 at comparable FLOPS.',
    paper: 'Table 2: 50.43 at FLOPS 2.31 against 49.52 at 2.39',
    verdict: verdictOf(gap, 'above'),
    evidence: [
      `at equal FLOPS, mean over the common range of both series: ${points(gap)}`,
      `rows of Table 2: ${points(row)}${flopsOf(m, 'table2', ['mask', 'baseline'])}`,
    ],
  };
}

function activationShortens(m: Measurements): Claim {
  const pairs = [...alike(m, 'l0', 'baseline'), ...alike(m, 'mask-l0', 'mask')];
  const ratio = costRatio(pairs, 'docLen');
  return {
    id: 'activation-shortens',
    claim: 'The ℓ0 activation shortens documents.',
    paper: 'Table 2: Doc_Len 295.79 against 327.23, with the mask 275.02 against 322.22',
    verdict: judge(ratio.interval, 'below'),
    evidence: [`Doc_Len with it against without, at the same λ and t: ${percent(ratio)}`],
  };
}

function activationHarms(m: Measurements): Claim {
  return {
    ...activationAlone(m, 'below'),
    id: 'activation-alone-harms',
    claim: 'The ℓ0 activation without the mask harms NDCG@10.',
    paper: '§ 5.2: “directly applying ℓ0 Activation increases efficiency but harms performance”; Table 2 says + 0.45',
  };
}

function activationHelps(m: Measurements): Claim {
  return {
    ...activationAlone(m, 'above'),
    id: 'activation-alone-helps',
    claim: 'The ℓ0 activation without the mask lifts NDCG@10.',
    paper: 'Table 2: 49.97 against 49.52; the text says the opposite',
  };
}

function activationAlone(m: Measurements, side: Side): Pick<Claim, 'verdict' | 'evidence'> {
  const row = difference(find(m, 'table2', 'l0'), find(m, 'table2', 'baseline'));
  const gap = compareCurves([series(m, 'l0'), series(m, 'baseline')], ([l0, baseline]) => meanGap(l0, baseline));
  return {
    verdict: verdictOf(row, side),
    evidence: [
      `rows of Table 2: ${points(row)}${flopsOf(m, 'table2', ['l0', 'baseline'])}`,
      `at equal FLOPS, mean over the common range of both series: ${points(gap)}`,
    ],
  };
}

function eachIsCheaper(m: Measurements): Claim {
  const parts = (['mask', 'l0'] as const).map((variant) => ({
    variant,
    ratio: compareCurves([series(m, variant), series(m, 'baseline')], ([own, baseline]) =>
      meanCostRatio(own, baseline),
    ),
  }));
  return {
    id: 'each-is-cheaper',
    claim: 'Mask and activation are each cheaper than the baseline at equal NDCG@10.',
    paper: '§ 5.3.1, Figure 1: “greater efficiency at the same performance level”',
    verdict: allOf(parts.map(({ ratio }) => verdictOf(ratio, 'below'))),
    evidence: parts.map(
      ({ variant, ratio }) =>
        `${VARIANTS[variant]}: FLOPS at equal NDCG@10 ${percent(ratio)} (${verdictOf(ratio, 'below')})`,
    ),
  };
}

function bothDegradeSlowest(m: Measurements): Claim {
  const others = ['baseline', 'mask', 'l0'] as const;
  const all = [series(m, 'mask-l0'), ...others.map((variant) => series(m, variant))];
  const least = compareCurves(all, (curves) => {
    const range = commonRange(curves);
    const losses = range ? curves.map((curve) => lossOver(curve, range)) : [];
    const known = losses.filter((loss) => loss !== undefined);
    if (known.length < curves.length || known.length === 0) return undefined;
    const [both, ...rest] = known;
    return Math.min(...rest) - both;
  });
  return {
    id: 'both-degrade-slowest',
    claim: 'With mask and activation together NDCG@10 falls slowest as FLOPS falls.',
    paper: '§ 5.3.1, Figure 1: “performance degrades more slowly as efficiency increases”',
    verdict: verdictOf(least, 'above'),
    evidence: [
      `what the best of the other three series loses from the upper to the lower end of the FLOPS that all have, less what both together lose: ${points(least)}`,
    ],
  };
}

function moreHurts(m: Measurements): Claim {
  const parts = (['l0-2', 'l0-3'] as const).map((variant) => ({
    variant,
    row: difference(find(m, 'table3', variant), find(m, 'table3', 'l0')),
  }));
  return {
    id: 'more-hurts',
    claim: 'More than one ℓ0 activation hurts NDCG@10.',
    paper: 'Table 3: 49.51 and 48.83 with two and three, 49.97 with one',
    verdict: allOf(parts.map(({ row }) => verdictOf(row, 'below'))),
    evidence: parts.map(
      ({ variant, row }) => `${VARIANTS[variant]} against one: ${points(row)} (${verdictOf(row, 'below')})`,
    ),
  };
}

function decoupledCosts(m: Measurements): Claim {
  const pairs: readonly (readonly [Variant, Variant])[] = [
    ['de-l0', 'l0'],
    ['inv-de-l0', 'l0'],
    ['mask-de-l0', 'mask-l0'],
    ['mask-inv-de-l0', 'mask-l0'],
  ];
  const found = pairs.map(([a, b]) => [find(m, 'table3', a), find(m, 'table3', b)] as const);
  const ratio = costRatio(found, 'flops');
  return {
    id: 'decoupled-costs',
    claim: 'Decoupled activations cost FLOPS.',
    paper: 'Table 3: 2.52 and 2.36 against 2.30; with the mask 2.61 and 2.18 against 2.13',
    verdict: judge(ratio.interval, 'above'),
    evidence: [
      `FLOPS of all four against the coupled one: ${percent(ratio)}`,
      ...pairs.map(
        ([a, b]) => `${VARIANTS[a]}: NDCG@10 ${points(difference(find(m, 'table3', a), find(m, 'table3', b)))}`,
      ),
    ],
  };
}

function baselineCollapses(m: Measurements): Claim {
  const baseline = [...series(m, 'baseline'), ...m.settings.collapse];
  const masked = [...series(m, 'mask'), ...series(m, 'mask-l0')];
  const [dead, deadMasked] = [baseline, masked].map((settings) => settings.filter(isCollapsed));
  const isWhole = (settings: readonly Setting[]): boolean =>
    settings.length > 0 && settings.every(({ runs }) => runs.length > 0);
  const isContradicted = deadMasked.length > 0 || (dead.length === 0 && isWhole(baseline));
  const holds = dead.length > 0 && isWhole(masked);
  return {
    id: 'baseline-collapses',
    claim: 'The baseline collapses at large λ, and the masked models do not.',
    paper: '§ 5.3.1, Figure 2: the baseline collapses at λ 0.12',
    verdict: isContradicted ? 'contradicted' : holds ? 'holds' : 'not resolved',
    evidence: [
      `collapsed without the mask: ${listed(dead)}`,
      `collapsed with it: ${listed(deadMasked)}`,
      ...(['baseline', 'l0', 'mask', 'mask-l0'] as const).map((variant) => lengthAtLargest(series(m, variant))),
    ],
  };
}

function risesWithThreshold(m: Measurements): Claim {
  const parts = (['mask', 'mask-l0'] as const).map((variant) => {
    const settings = byThreshold(m, variant);
    return { variant, settings, rise: difference(settings.at(-1), settings[0]) };
  });
  return {
    id: 'rises-with-t',
    claim: 'NDCG@10 rises with t.',
    paper:
      '§ 5.3.2, Figure 3: “performance increases when the threshold allows longer documents to avoid penalization”',
    verdict: allOf(parts.map(({ rise }) => verdictOf(rise, 'above'))),
    evidence: parts.map(
      ({ variant, settings, rise }) =>
        `${VARIANTS[variant]}, from t ${settings[0]?.threshold} to ${settings.at(-1)?.threshold}: ${points(rise)}; ${risingSteps(settings)} (${verdictOf(rise, 'above')})`,
    ),
  };
}

function thresholdBeatsLambda(m: Measurements): Claim {
  const parts = (['mask', 'mask-l0'] as const).map((variant) => ({
    variant,
    gap: compareCurves([byThreshold(m, variant), series(m, variant)], ([t, lambda]) => meanGap(t, lambda)),
  }));
  return {
    id: 't-beats-lambda',
    claim: 'At equal FLOPS, varying t gives a higher NDCG@10 than varying λ.',
    paper: '§ 5.3.2, Figures 1 and 3: “at comparable FLOPS, the results obtained by varying t are higher”',
    verdict: allOf(parts.map(({ gap }) => verdictOf(gap, 'above'))),
    evidence: parts.map(({ variant, gap }) => `${VARIANTS[variant]}: ${points(gap)} (${verdictOf(gap, 'above')})`),
  };
}

function zeroThreshold(m: Measurements): Claim {
  const parts = (
    [
      ['mask', 'baseline'],
      ['mask-l0', 'l0'],
    ] as const
  ).map(([variant, limit]) => {
    const [least] = byThreshold(m, variant);
    return { variant, least, gap: difference(least, find(m, 'unmasked', limit)) };
  });
  return {
    id: 't-to-zero',
    claim: 'As t goes to 0 the ℓ0 mask becomes the baseline.',
    paper: '§ 5.3.2: “When the threshold approaches zero, the ℓ0 Mask degenerates to near baseline performance”',
    verdict: judgeEqual(parts[0].gap.interval, EQUAL_BOUND),
    evidence: [
      ...parts.map(
        ({ variant, least, gap }) =>
          `${VARIANTS[variant]} at t ${least?.threshold} against the same without it: ${points(gap)}`,
      ),
      `as good as equal: the interval lies within ± ${(100 * EQUAL_BOUND).toFixed(1)} points; at t = 0 the losses are the same by their formulas`,
    ],
  };
}

// ---- settings

/** A variant's points of Figure 1, by λ. */
function series({ settings }: Measurements, variant: Variant): Setting[] {
  return settings.figure1.filter((own) => own.variant === variant).sort((a, b) => a.lambda - b.lambda);
}

/** A variant's points of Figure 3, by t. */
function byThreshold({ settings }: Measurements, variant: Variant): Setting[] {
  const own = settings.figure3.filter((setting) => setting.variant === variant);
  return own.sort((a, b) => (a.threshold ?? 0) - (b.threshold ?? 0));
}

function find({ settings }: Measurements, sweep: SweepName, variant: Variant): Setting | undefined {
  return settings[sweep].find((own) => own.variant === variant);
}

/** Points of two series of Figure 1 with the same λ. */
function alike(m: Measurements, a: Variant, b: Variant): (readonly [Setting, Setting | undefined])[] {
  const others = series(m, b);
  return series(m, a).map((own) => [own, others.find(({ lambda }) => lambda === own.lambda)] as const);
}

// ---- words

function verdictOf({ interval, bySeed }: Comparison, side: Side): Verdict {
  return judge(interval, side, bySeed);
}

const NO_POINTS = 'nothing to compare';

/** A difference of NDCG@10 in points, 100 times as large. */
function points({ interval, bySeed }: Comparison): string {
  if (!interval) return NO_POINTS;
  const seeds = bySeed.length === 0 ? '' : `; by seed ${bySeed.map((value) => signed(100 * value)).join(', ')}`;
  return `${signed(100 * interval.mean)} points (95 % ${rangeOf(interval, (value) => 100 * value)}${seeds})`;
}

/** A mean of logarithms of ratios as a change in per cent. */
function percent({
  interval,
  numCells,
}: {
  readonly interval: Interval | undefined;
  readonly numCells?: number;
}): string {
  if (!interval) return NO_POINTS;
  const change = (value: number): number => 100 * (Math.exp(value) - 1);
  const cells = numCells === undefined ? '' : `, ${numCells} cells of pair, set and seed`;
  return `${signed(change(interval.mean))} % (95 % ${rangeOf(interval, change)}${cells})`;
}

function rangeOf({ low, high }: Interval, shown: (value: number) => number): string {
  return `${signed(shown(low))} … ${signed(shown(high))}`;
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
}

function flopsOf(m: Measurements, sweep: SweepName, variants: readonly Variant[]): string {
  const flops = variants.map((variant) => {
    const setting = find(m, sweep, variant);
    return setting && settingMean(setting, 'flops');
  });
  return flops.some((value) => value === undefined)
    ? ''
    : `, at FLOPS ${flops.map((value) => value?.toFixed(2)).join(' and ')}`;
}

function listed(settings: readonly Setting[]): string {
  return settings.length === 0 ? 'none' : settings.map(describeKind).join('; ');
}

function lengthAtLargest(settings: readonly Setting[]): string {
  const last = settings.filter(({ runs }) => runs.length > 0).at(-1);
  if (!last) return NO_POINTS;
  const docLen = settingMean(last, 'docLen');
  return `Doc_Len of ${describeKind(last)}: ${docLen === undefined ? 'stopped by the alarm' : docLen.toFixed(1)}`;
}

function risingSteps(settings: readonly Setting[]): string {
  const values = settings.map((setting) => settingMean(setting, 'ndcg')).filter((value) => value !== undefined);
  const rising = values.slice(1).filter((value, i) => value > values[i]).length;
  return `${rising} of ${Math.max(0, values.length - 1)} steps rise`;
}
