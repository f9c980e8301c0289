/** Variants of the method: what a point of a sweep is called in the paper's tables and figures, by its settings alone. */
import { ConfigError } from '../core/index.ts';
import type { Settings } from '../sweep/index.ts';

/** Names of all variants, as the tables call them. */
export const VARIANTS = {
  baseline: 'baseline',
  mask: '+ ℓ0 mask',
  l0: '+ ℓ0 activation',
  'mask-l0': '+ ℓ0 mask + ℓ0 activation',
  'de-l0': 'de-ℓ0 activation',
  'inv-de-l0': 'inv-de-ℓ0 activation',
  'l0-2': '2-ℓ0 activation',
  'l0-3': '3-ℓ0 activation',
  'mask-de-l0': '+ ℓ0 mask + de-ℓ0 activation',
  'mask-inv-de-l0': '+ ℓ0 mask + inv-de-ℓ0 activation',
  'mask-l0-2': '+ ℓ0 mask + 2-ℓ0 activation',
  'mask-l0-3': '+ ℓ0 mask + 3-ℓ0 activation',
  'no-idf': 'baseline, queries weigh 1',
} as const;

/** A variant of the method. */
export type Variant = keyof typeof VARIANTS;

/** What a point is: a variant with its λ and t. */
export type PointKind = {
  readonly variant: Variant;
  /** λ_d */
  readonly lambda: number;
  /** t; null without the mask. */
  readonly threshold: number | null;
};

/** By what ranks and what FLOPS sees; `activation flopsOn`. */
const BY_ACTIVATION: Readonly<Record<string, Variant>> = {
  'relu same': 'baseline',
  'l0 same': 'l0',
  'relu l0': 'de-l0',
  'l0 relu': 'inv-de-l0',
  'l0-2 same': 'l0-2',
  'l0-3 same': 'l0-3',
};

/** What a point of a sweep is. Settings that no table or figure of the paper changes are refused. */
export function kindOf(settings: Settings): PointKind {
  const {
    'sparsity.lambda': lambda,
    'sparsity.threshold': threshold,
    'model.activation': activation,
    'sparsity.flopsOn': flopsOn = 'same',
    'idf.source': idf,
    ...others
  } = settings;
  const plain = BY_ACTIVATION[`${activation} ${flopsOn}`];
  const isKnown = Object.keys(others).length === 0 && (idf === undefined || idf === 'none');
  const isMasked = typeof threshold === 'number';
  const variant = idf === 'none' ? noIdf(plain, isMasked) : isMasked ? masked(plain) : plain;
  if (!isKnown || variant === undefined || typeof lambda !== 'number' || (!isMasked && threshold !== null))
    throw new ConfigError(`no row or point of the paper has the settings ${JSON.stringify(settings)}`, {
      hint: 'a point names sparsity.lambda, sparsity.threshold and model.activation, perhaps sparsity.flopsOn or idf.source: none',
    });
  return { variant, lambda, threshold: isMasked ? threshold : null };
}

function masked(plain: Variant | undefined): Variant | undefined {
  if (plain === undefined) return undefined;
  return Object.keys(VARIANTS).find(
    (name): name is Variant => name === (plain === 'baseline' ? 'mask' : `mask-${plain}`),
  );
}

function noIdf(plain: Variant | undefined, isMasked: boolean): Variant | undefined {
  return plain === 'baseline' && !isMasked ? 'no-idf' : undefined;
}

/** How a point is called in figures and lists: "+ ℓ0 mask, λ 0.035, t 200". */
export function describeKind({ variant, lambda, threshold }: PointKind): string {
  return `${VARIANTS[variant]}, λ ${lambda}${threshold === null ? '' : `, t ${threshold}`}`;
}
