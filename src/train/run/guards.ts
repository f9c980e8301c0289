/**
 * What goes wrong in training without an error: a head that is not calibrated, documents that lose all their terms, numbers
 * that are not finite. Each is found early, and told with its likely cause and the setting to change.
 */
import { LzeroError } from '../../core/index.ts';
import type { Matrix } from '../../losses/index.ts';
import { rowOf } from '../../losses/index.ts';
import type { TrainConfig } from '../config.ts';
import type { RunConfig } from '../states-config.ts';
import type { StepFigures, StepReport } from '../trainer.ts';

/** Codes of the errors below. */
const COLLAPSE = 'COLLAPSE';
const DIVERGED = 'DIVERGED';

/** Training has collapsed, or cannot begin. */
export class CollapseError extends LzeroError {
  constructor(message: string, hint: string, cause?: unknown) {
    super(COLLAPSE, message, { hint, cause });
  }
}

/** Numbers of training are not finite any more, or too large to go on with. */
export class DivergenceError extends LzeroError {
  constructor(message: string, hint: string, cause?: unknown) {
    super(DIVERGED, message, { hint, cause });
  }
}

/** The error of an alarm that ends a run. */
export function alarmError({ message, hint, isFatal = false }: Alarm): CollapseError | DivergenceError {
  return isFatal ? new DivergenceError(message, hint) : new CollapseError(message, hint);
}

/** The same kind of error again, of one that has crossed threads. */
export function alarmFrom(error: LzeroError): LzeroError {
  const { code, message, hint = '', cause } = error;
  if (code === COLLAPSE) return new CollapseError(message, hint, cause);
  return code === DIVERGED ? new DivergenceError(message, hint, cause) : error;
}

/** What is wrong and what to change. */
export type Alarm = {
  readonly message: string;
  readonly hint: string;
  /** Whether numbers are not finite, so that nothing can come of going on. */
  readonly isFatal?: boolean;
};

/** Pooled logits of a batch, in numbers. */
export type LogitStatistics = {
  readonly mean: number;
  /** Standard deviation. */
  readonly spread: number;
  /** Terms of a document that are active, on average. */
  readonly activeTerms: number;
  /** Share of documents without any. */
  readonly emptyShare: number;
  readonly numTerms: number;
};

/** Mean, spread and active terms of z, [B, V]. */
export function logitStatistics(z: Matrix): LogitStatistics {
  let [sum, squares, active, empty] = [0, 0, 0, 0];
  for (let b = 0; b < z.rows; b++) {
    let own = 0;
    for (const value of rowOf(z, b)) {
      sum += value;
      squares += value * value;
      if (value > 0) own++;
    }
    active += own;
    if (own === 0) empty++;
  }
  const mean = sum / z.data.length;
  const spread = Math.sqrt(Math.max(0, squares / z.data.length - mean * mean));
  return { mean, spread, activeTerms: active / z.rows, emptyShare: empty / z.rows, numTerms: z.cols };
}

/** A head that leaves more of the vocabulary active than this is not one that knows which terms matter. */
const LARGEST_SHARE = 0.5;

const CALIBRATE =
  'begin with a checkpoint that has a trained MLM head, or give it a calibrated one: lzero model import CHECKPOINT -o MODEL --head pooled --calibrate TEXTS';

/** A network that is broken before training has begun. */
export function notFinite(): Alarm {
  return {
    message: 'the network gives numbers that are not finite',
    hint: 'the checkpoint has diverged or is damaged',
    isFatal: true,
  };
}

/** What the first batch says against beginning, if anything. */
export function checkFirstBatch({
  mean,
  spread,
  activeTerms,
  emptyShare,
  numTerms,
}: LogitStatistics): Alarm | undefined {
  const seen = `logits have mean ${mean.toFixed(3)} and spread ${spread.toFixed(3)}`;
  if (!Number.isFinite(mean) || !Number.isFinite(spread)) return notFinite();
  if (emptyShare === 1)
    return {
      message: `no document of the first batch has an active term (${seen}): nothing can be learned`,
      hint: CALIBRATE,
    };
  if (activeTerms > LARGEST_SHARE * numTerms)
    return {
      message: `${Math.round(activeTerms).toLocaleString('en')} of ${numTerms.toLocaleString('en')} terms are active in a document of the first batch (${seen}): the head is not calibrated`,
      hint: CALIBRATE,
    };
  return undefined;
}

/** Steps in a row whose documents are all empty before that counts as dead: one batch may be an odd one. */
const DEAD_STEPS = 3;
/** AdamW keeps squares as float32. */
const LARGEST_NORM = 1e18;
/** Evaluations in a row with fewer than one term a document before that counts as a collapse. */
const COLLAPSED_EVALUATIONS = 2;

/** What a step says, if it is bad, and how many steps in a row have had only empty documents; told once in a row. */
export function checkStep(
  report: StepReport,
  numDeadBefore: number,
  config: TrainConfig,
): { readonly numDead: number; readonly alarm: Alarm | undefined } {
  const { numEmpty, numDocs, step } = report;
  const numDead = numEmpty === numDocs ? numDeadBefore + 1 : 0;
  const overflow = checkNumbers(report, config);
  if (overflow) return { numDead, alarm: overflow };
  if (numDead !== DEAD_STEPS) return { numDead, alarm: undefined };
  const message = `step ${step + 1}: all documents of ${DEAD_STEPS} steps have lost all their terms; every ReLU is dead, so nothing is learned any more`;
  return { numDead, alarm: { message, hint: tooSparse(config) } };
}

/** What the numbers of a step say, if they have left what can be computed with. */
export function checkNumbers(
  { loss, gradientNorm, step }: StepFigures,
  config: Pick<RunConfig, 'optim'>,
): Alarm | undefined {
  const overflow = overflowOf(loss, gradientNorm, config);
  return overflow === undefined
    ? undefined
    : { message: `step ${step + 1}: ${overflow}`, hint: tooFast(config), isFatal: true };
}

function overflowOf(
  loss: number,
  gradientNorm: number,
  { optim: { clip } }: Pick<RunConfig, 'optim'>,
): string | undefined {
  if (!Number.isFinite(loss)) return 'the loss is not a finite number';
  if (!Number.isFinite(gradientNorm)) return 'the gradient is not a finite number';
  const norm = Math.min(gradientNorm, clip ?? gradientNorm); // of what AdamW is given
  return norm < LARGEST_NORM ? undefined : `the gradient is too large to be squared (norm ${norm.toPrecision(2)})`;
}

/** What to do about numbers that grow without bound. */
function tooFast({ optim: { clip } }: Pick<RunConfig, 'optim'>): string {
  return `lower optim.learningRate or lengthen optim.warmup${clip === null ? ', or set optim.clip: 1' : ''}`;
}

/** What evaluations say: documents with less than one term, two times in a row. */
export function checkLengths(numCollapsed: number, docLen: number, config: TrainConfig): Alarm | undefined {
  if (numCollapsed < COLLAPSED_EVALUATIONS) return undefined;
  return {
    message: `documents have ${docLen.toFixed(2)} terms, less than one at ${numCollapsed} evaluations in a row: the model has collapsed`,
    hint: tooSparse(config),
  };
}

/** The likely cause of documents without terms, by the settings of the regulariser. */
function tooSparse({ sparsity: { regulariser, lambda, ramp, rampShape, threshold } }: TrainConfig): string {
  const sudden = rampShape === 'none' || ramp === 0;
  if (sudden)
    return `λ is ${lambda} from the first step on: let it grow (sparsity.ramp, sparsity.rampShape: quadratic)`;
  const canMask = regulariser !== 'l1' && threshold === null;
  const mask = canMask ? ', or leave short documents in peace (sparsity.threshold: 200)' : '';
  return `λ is too strong: lower sparsity.lambda (${lambda}), lengthen sparsity.ramp (${ramp})${mask}`;
}
