import { describe, expect, it } from 'vitest';
import { tinyConfig } from '../../../test/train/tiny-training.ts';
import { LzeroError } from '../../core/index.ts';
import { matrixFromRows } from '../../losses/index.ts';
import type { StepReport } from '../trainer.ts';
import {
  alarmError,
  alarmFrom,
  CollapseError,
  checkFirstBatch,
  checkLengths,
  checkStep,
  DivergenceError,
  logitStatistics,
} from './guards.ts';

const config = (...set: string[]) =>
  tinyConfig(
    `model: { base: x }
data: { train: x, format: scored }
rank: { loss: kl }
sparsity: { lambda: 0.4, threshold: null }
optim: { warmup: 0 }`,
    ...set,
  );

const report = (changes: Partial<StepReport>): StepReport => ({
  step: 0,
  loss: 1,
  rank: { kl: 1 },
  sparsity: 0,
  lambda: 0,
  docLen: 10,
  maskedShare: 0,
  numEmpty: 0,
  docLens: new Uint32Array(),
  numDocs: 4,
  numTokens: 40,
  learningRate: 1e-5,
  gradientNorm: 1,
  ...changes,
});

describe('the first batch', () => {
  it('has mean, spread, active terms and empty documents, by hand', () => {
    const { mean, spread, ...counts } = logitStatistics(
      matrixFromRows([
        [1, -1, 3, -3],
        [0, 0, 0, -8],
      ]),
    ); // prettier
    expect(mean).toBe(-1);
    expect(spread).toBeCloseTo(Math.sqrt((4 + 0 + 16 + 4 + 1 + 1 + 1 + 49) / 8), 12);
    expect(counts).toEqual({ activeTerms: 1, emptyShare: 0.5, numTerms: 4 });
  });

  it('with few active terms is fine; with none, with most, or with NaN it says what to do', () => {
    const sound = { mean: -5, spread: 2, activeTerms: 180, emptyShare: 0, numTerms: 30_522 };
    expect(checkFirstBatch(sound)).toBeUndefined();
    expect(checkFirstBatch({ ...sound, activeTerms: 0, emptyShare: 1 })?.message).toContain('nothing can be learned');
    expect(checkFirstBatch({ ...sound, mean: 3, activeTerms: 29_000 })?.message).toContain(
      '29,000 of 30,522 terms are active',
    );
    expect(checkFirstBatch({ ...sound, activeTerms: 29_000 })?.hint).toContain('--head pooled --calibrate');
    expect(checkFirstBatch({ ...sound, mean: Number.NaN })).toMatchObject({ isFatal: true });
  });
});

/** Alarms of steps one after the other, by how many of their four documents are empty. */
function alarmsOf(numsEmpty: readonly number[], settings = config()) {
  let numDead = 0;
  return numsEmpty.map((numEmpty, step) => {
    const checked = checkStep(report({ numEmpty, step }), numDead, settings);
    numDead = checked.numDead;
    return checked.alarm;
  });
}

describe('steps', () => {
  it('whose documents are all empty, three times in a row, are dead, once; a better one in between starts over', () => {
    const alarms = alarmsOf([4, 4, 3, 4, 4, 4, 4, 0, 4, 4, 4]);
    expect(alarms.flatMap((alarm, step) => (alarm ? [step] : []))).toEqual([5, 10]);
    expect(alarms[5]?.hint).toContain('lower sparsity.lambda (0.4)');
    expect(alarms[5]?.hint).toContain('sparsity.threshold: 200');
  });

  it('without a ramp name the ramp as the cause', () => {
    expect(alarmsOf([4, 4, 4], config('sparsity.rampShape=none'))[2]?.hint).toContain(
      'λ is 0.4 from the first step on',
    );
  });

  it('under L1 advise no mask, which it does not have', () => {
    expect(alarmsOf([4, 4, 4], config('sparsity.regulariser=l1'))[2]?.hint).not.toContain('threshold');
  });

  it.each([{ loss: Number.NaN }, { gradientNorm: Number.POSITIVE_INFINITY }, { gradientNorm: 5e31 }])(
    'that are not finite (%o) end it',
    (bad) => {
      expect(checkStep(report(bad), 0, config()).alarm).toMatchObject({
        isFatal: true,
        hint: expect.stringContaining('learningRate'),
      });
    },
  );

  it('whose gradient is too large to be squared go on where it is clipped, and then are not told to clip', () => {
    const clipped = config('optim.clip=1');
    expect(checkStep(report({ gradientNorm: 5e31 }), 0, clipped).alarm).toBeUndefined();
    expect(checkStep(report({ gradientNorm: 5e31 }), 0, config('optim.clip=1e20')).alarm).toMatchObject({
      isFatal: true,
    });
    expect(checkStep(report({ loss: Number.NaN }), 0, clipped).alarm?.hint).not.toContain('clip');
    expect(checkStep(report({ loss: Number.NaN }), 0, config()).alarm?.hint).toContain('optim.clip: 1');
  });
});

it('evaluations: less than one term a document is an alarm at the second time in a row', () => {
  expect(checkLengths(1, 0.4, config())).toBeUndefined();
  expect(checkLengths(2, 0.4, config())?.message).toContain('documents have 0.40 terms');
});

it('alarms end a run as a collapse, or as a divergence where numbers are not finite; both cross threads as they are', () => {
  const collapse = alarmError({ message: 'dead', hint: 'lower λ' });
  const divergence = alarmError({ message: 'NaN', hint: 'slower', isFatal: true });
  expect([collapse.code, divergence.code]).toEqual(['COLLAPSE', 'DIVERGED']);
  const crossed = ({ code, message, hint }: LzeroError) => alarmFrom(new LzeroError(code, message, { hint }));
  expect(crossed(collapse)).toBeInstanceOf(CollapseError);
  expect(crossed(divergence)).toBeInstanceOf(DivergenceError);
  expect(crossed(divergence)).toMatchObject({ message: 'NaN', hint: 'slower' });
  expect(crossed(new LzeroError('OTHER', 'x'))).not.toBeInstanceOf(CollapseError);
});
