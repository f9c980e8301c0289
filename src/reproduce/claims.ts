/**
 * The claims of the paper, each with a verdict that is worked out from the measurements: verdict.ts says what the words mean,
 * compare.ts and curve.ts how figures are made, evidence.ts puts them into words. A claim that the paper contradicts itself on stands here twice.
 */
import { compareCurves, costRatio, difference } from './compare.ts';
import { lossGap, meanCostRatio, meanGap } from './curve.ts';
import { NO_POINTS, oneSeedLines, partLines, percent, points } from './evidence.ts';
import { collapsedLength, collapseOf, type Measurements, type Setting, settingMean } from './measurements.ts';
import type { ResamplingOptions } from './resampling.ts';
import type { SweepName } from './scale.ts';
import { describeKind, VARIANTS, type Variant } from './variant.ts';
import { CONFIDENCE, judgeAll, judgeEqual, type Side, type Verdict } from './verdict.ts';

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

/**
 * Judges every claim.
 *
 * @param options how queries are drawn
 */
export function judgeClaims(measurements: Measurements, options: ResamplingOptions = {}): Claim[] {
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
  ].map((make) => make(measurements, options));
}

function maskLifts(m: Measurements, options: ResamplingOptions): Claim {
  const gap = compareCurves(
    [series(m, 'mask'), series(m, 'baseline')],
    ([mask, baseline]) => meanGap(mask, baseline),
    options,
  );
  const row = difference(find(m, 'table2', 'mask'), find(m, 'table2', 'baseline'), options);
  const verdict = judgeAll([gap], 'above');
  return {
    id: 'mask-lifts',
    claim: 'The ℓ0 mask lifts NDCG@10 at comparable FLOPS.',
    paper: 'Table 2: 50.43 at FLOPS 2.31 against 49.52 at 2.39',
    verdict,
    evidence: [
      `at equal FLOPS, mean over the common range of both series: ${points(gap)}`,
      `rows of Table 2: ${points(row)}${flopsOf(m, 'table2', ['mask', 'baseline'])}`,
      ...oneSeedLines(verdict, [gap]),
    ],
  };
}

function activationShortens(m: Measurements): Claim {
  const parts = [
    { name: 'without the mask', ...costRatio(alike(m, 'l0', 'baseline'), 'docLen') },
    { name: 'with it', ...costRatio(alike(m, 'mask-l0', 'mask'), 'docLen') },
  ];
  const verdict = judgeAll(parts, 'below');
  return {
    id: 'activation-shortens',
    claim: 'The ℓ0 activation shortens documents.',
    paper: 'Table 2: Doc_Len 295.79 against 327.23, with the mask 275.02 against 322.22',
    verdict,
    evidence: [
      'Doc_Len with the activation against without, at the same λ and t:',
      ...partLines(parts, 'below', percent),
      ...oneSeedLines(verdict, parts),
    ],
  };
}

function activationHarms(m: Measurements, options: ResamplingOptions): Claim {
  return {
    ...activationAlone(m, 'below', options),
    id: 'activation-alone-harms',
    claim: 'The ℓ0 activation without the mask harms NDCG@10.',
    paper: '§ 5.2: “directly applying ℓ0 Activation increases efficiency but harms performance”; Table 2 says + 0.45',
  };
}

function activationHelps(m: Measurements, options: ResamplingOptions): Claim {
  return {
    ...activationAlone(m, 'above', options),
    id: 'activation-alone-helps',
    claim: 'The ℓ0 activation without the mask lifts NDCG@10.',
    paper: 'Table 2: 49.97 against 49.52; the text says the opposite',
  };
}

function activationAlone(m: Measurements, side: Side, options: ResamplingOptions): Pick<Claim, 'verdict' | 'evidence'> {
  const row = difference(find(m, 'table2', 'l0'), find(m, 'table2', 'baseline'), options);
  const gap = compareCurves(
    [series(m, 'l0'), series(m, 'baseline')],
    ([l0, baseline]) => meanGap(l0, baseline),
    options,
  );
  const verdict = judgeAll([row], side);
  return {
    verdict,
    evidence: [
      `rows of Table 2: ${points(row)}${flopsOf(m, 'table2', ['l0', 'baseline'])}`,
      `at equal FLOPS, mean over the common range of both series: ${points(gap)}`,
      ...oneSeedLines(verdict, [row]),
    ],
  };
}

function eachIsCheaper(m: Measurements, options: ResamplingOptions): Claim {
  const parts = (['mask', 'l0'] as const).map((variant) => ({
    name: VARIANTS[variant],
    ...compareCurves(
      [series(m, variant), series(m, 'baseline')],
      ([own, baseline]) => meanCostRatio(own, baseline),
      options,
    ),
  }));
  const verdict = judgeAll(parts, 'below');
  return {
    id: 'each-is-cheaper',
    claim: 'Mask and activation are each cheaper than the baseline at equal NDCG@10.',
    paper: '§ 5.3.1, Figure 1: “greater efficiency at the same performance level”',
    verdict,
    evidence: ['FLOPS at equal NDCG@10:', ...partLines(parts, 'below', percent), ...oneSeedLines(verdict, parts)],
  };
}

/** Against each of the others: the least of their losses would be an estimate that noise makes too small. */
function bothDegradeSlowest(m: Measurements, options: ResamplingOptions): Claim {
  const parts = (['baseline', 'mask', 'l0'] as const).map((variant) => ({
    name: `against ${VARIANTS[variant]}`,
    ...compareCurves([series(m, variant), series(m, 'mask-l0')], ([other, both]) => lossGap(other, both), options),
  }));
  const verdict = judgeAll(parts, 'above');
  return {
    id: 'both-degrade-slowest',
    claim: 'With mask and activation together NDCG@10 falls slowest as FLOPS falls.',
    paper: '§ 5.3.1, Figure 1: “performance degrades more slowly as efficiency increases”',
    verdict,
    evidence: [
      'what another series loses from the upper to the lower end of the FLOPS that both have, less what both together lose:',
      ...partLines(parts, 'above', points),
      ...oneSeedLines(verdict, parts),
    ],
  };
}

function moreHurts(m: Measurements, options: ResamplingOptions): Claim {
  const parts = (['l0-2', 'l0-3'] as const).map((variant) => ({
    name: `${VARIANTS[variant]} against one`,
    ...difference(find(m, 'table3', variant), find(m, 'table3', 'l0'), options),
  }));
  const verdict = judgeAll(parts, 'below');
  return {
    id: 'more-hurts',
    claim: 'More than one ℓ0 activation hurts NDCG@10.',
    paper: 'Table 3: 49.51 and 48.83 with two and three, 49.97 with one',
    verdict,
    evidence: [...partLines(parts, 'below', points), ...oneSeedLines(verdict, parts)],
  };
}

function decoupledCosts(m: Measurements, options: ResamplingOptions): Claim {
  const pairs: readonly (readonly [Variant, Variant])[] = [
    ['de-l0', 'l0'],
    ['inv-de-l0', 'l0'],
    ['mask-de-l0', 'mask-l0'],
    ['mask-inv-de-l0', 'mask-l0'],
  ];
  const parts = pairs.map(([a, b]) => {
    const pair = [find(m, 'table3', a), find(m, 'table3', b)] as const;
    return { name: VARIANTS[a], ...costRatio([pair], 'flops'), ndcg: difference(...pair, options) };
  });
  const verdict = judgeAll(parts, 'above');
  return {
    id: 'decoupled-costs',
    claim: 'Decoupled activations cost FLOPS.',
    paper: 'Table 3: 2.52 and 2.36 against 2.30; with the mask 2.61 and 2.18 against 2.13',
    verdict,
    evidence: [
      'FLOPS against those of the coupled one:',
      ...partLines(parts, 'above', (part) => `${percent(part)}, NDCG@10 ${points(part.ndcg)}`),
    ],
  };
}

/** Optimiser steps of the paper's runs. */
const PAPER_STEPS = 100_000;

function baselineCollapses(m: Measurements): Claim {
  const baseline = [...series(m, 'baseline'), ...m.settings.collapse];
  const masked = [...series(m, 'mask'), ...series(m, 'mask-l0')];
  const [without, withMask] = [baseline, masked].map((settings) => settings.map(collapseOf));
  const never = (found: typeof without): boolean => found.length > 0 && found.every((one) => one === 'none');
  // That nothing has collapsed yet tells nothing of a training of more steps.
  const telling = baseline.flatMap(({ runs }) => runs.filter(({ status }) => status !== 'diverged'));
  const shortest = Math.min(...telling.map(({ steps }) => steps));
  const isContradicted = withMask.includes('all') || (never(without) && shortest >= PAPER_STEPS);
  const holds = without.includes('all') && never(withMask);
  const verdict = isContradicted ? 'contradicted' : holds ? 'holds' : 'not resolved';
  return {
    id: 'baseline-collapses',
    claim: 'The baseline collapses at large λ, and the masked models do not.',
    paper: '§ 5.3.1, Figure 2: the baseline collapses at λ 0.12',
    verdict,
    evidence: [
      `collapsed without the mask: ${collapsedOf(baseline)}${never(without) && shortest < PAPER_STEPS ? ` after ${shortest} steps, of the paper’s ${PAPER_STEPS}` : ''}`,
      `collapsed with it: ${collapsedOf(masked)}`,
      ...divergedLines([...baseline, ...masked]),
      ...(['baseline', 'l0', 'mask', 'mask-l0'] as const).map((variant) => lengthAtLargest(series(m, variant))),
      ...oneSeedLines(
        verdict,
        [...baseline, ...masked].map(({ runs }) => ({ numSeeds: runs.length })),
      ),
    ],
  };
}

function risesWithThreshold(m: Measurements, options: ResamplingOptions): Claim {
  const parts = (['mask', 'mask-l0'] as const).map((variant) => {
    const settings = byThreshold(m, variant);
    const [first, last] = [settings[0], settings.at(-1)];
    const name = `${VARIANTS[variant]}, from t ${first?.threshold} to ${last?.threshold}`;
    return { name, settings, ...difference(last, first, options) };
  });
  const verdict = judgeAll(parts, 'above');
  return {
    id: 'rises-with-t',
    claim: 'NDCG@10 rises with t.',
    paper:
      '§ 5.3.2, Figure 3: “performance increases when the threshold allows longer documents to avoid penalization”',
    verdict,
    evidence: [
      ...partLines(parts, 'above', (part) => `${points(part)}; ${risingSteps(part.settings)}`),
      ...oneSeedLines(verdict, parts),
    ],
  };
}

function thresholdBeatsLambda(m: Measurements, options: ResamplingOptions): Claim {
  const parts = (['mask', 'mask-l0'] as const).map((variant) => ({
    name: VARIANTS[variant],
    ...compareCurves([byThreshold(m, variant), series(m, variant)], ([t, lambda]) => meanGap(t, lambda), options),
  }));
  const verdict = judgeAll(parts, 'above');
  return {
    id: 't-beats-lambda',
    claim: 'At equal FLOPS, varying t gives a higher NDCG@10 than varying λ.',
    paper: '§ 5.3.2, Figures 1 and 3: “at comparable FLOPS, the results obtained by varying t are higher”',
    verdict,
    evidence: [...partLines(parts, 'above', points), ...oneSeedLines(verdict, parts)],
  };
}

function zeroThreshold(m: Measurements, options: ResamplingOptions): Claim {
  const parts = (
    [
      ['mask', 'baseline'],
      ['mask-l0', 'l0'],
    ] as const
  ).map(([variant, limit]) => {
    const [least] = byThreshold(m, variant);
    return { variant, least, gap: difference(least, find(m, 'unmasked', limit), options) };
  });
  const verdict = judgeEqual(parts[0].gap.intervalAt(CONFIDENCE), EQUAL_BOUND);
  return {
    id: 't-to-zero',
    claim: 'As t goes to 0 the ℓ0 mask becomes the baseline.',
    paper: '§ 5.3.2: “When the threshold approaches zero, the ℓ0 Mask degenerates to near baseline performance”',
    verdict,
    evidence: [
      ...parts.map(
        ({ variant, least, gap }) =>
          `${VARIANTS[variant]} at t ${least?.threshold} against the same without it: ${points(gap)}`,
      ),
      `judged by the first; as good as equal: the interval lies within ± ${(100 * EQUAL_BOUND).toFixed(1)} points; at t = 0 the losses are the same by their formulas`,
      ...oneSeedLines(verdict, [parts[0].gap]),
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

function flopsOf(m: Measurements, sweep: SweepName, variants: readonly Variant[]): string {
  const flops = variants.map((variant) => {
    const setting = find(m, sweep, variant);
    return setting && settingMean(setting, 'flops');
  });
  return flops.some((value) => value === undefined)
    ? ''
    : `, at FLOPS ${flops.map((value) => value?.toFixed(2)).join(' and ')}`;
}

/** Settings that have collapsed, also those of which only some seeds have. */
function collapsedOf(settings: readonly Setting[]): string {
  const found = settings.flatMap((setting) => {
    const collapse = collapseOf(setting);
    if (collapse === 'all') return [describeKind(setting)];
    return collapse === 'some' ? [`${describeKind(setting)} (not with every seed)`] : [];
  });
  return found.join('; ') || 'none';
}

function divergedLines(settings: readonly Setting[]): string[] {
  const found = settings.filter(({ runs }) => runs.some(({ status }) => status === 'diverged'));
  return found.length === 0 ? [] : [`diverged, and so not counted: ${found.map(describeKind).join('; ')}`];
}

function lengthAtLargest(settings: readonly Setting[]): string {
  const last = settings.filter((setting) => collapseOf(setting) !== undefined).at(-1);
  if (!last) return NO_POINTS;
  const docLen = settingMean(last, 'docLen');
  return `Doc_Len of ${describeKind(last)}: ${docLen?.toFixed(1) ?? `${collapsedLength(last).toFixed(1)}, collapsed`}`;
}

function risingSteps(settings: readonly Setting[]): string {
  const values = settings.map((setting) => settingMean(setting, 'ndcg')).filter((value) => value !== undefined);
  const rising = values.slice(1).filter((value, i) => value > values[i]).length;
  return `${rising} of ${Math.max(0, values.length - 1)} steps rise`;
}
