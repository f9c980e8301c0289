/** Every loss against PyTorch's autograd: test/golden/losses/make.py asks it. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { relativeError } from '../../test/lib/central-differences.ts';
import { dfFlops } from './df-flops.ts';
import type { FlopsGrouping } from './flops.ts';
import { flops } from './flops.ts';
import { infoNce } from './info-nce.ts';
import { kl } from './kl.ts';
import { l1 } from './l1.ts';
import { marginMse } from './margin-mse.ts';
import { matrix, matrixFromRows } from './matrix.ts';
import type { Candidates } from './scores.ts';
import { addScoreGradients, scores } from './scores.ts';

type Rows = number[][];
type Regularised = { w: Rows; loss: number; dW: Rows };
type Ranked = { scores: Rows; loss: number; dScores: Rows };
type Taught = Ranked & { teacher: Rows };
type Flops = Regularised & {
  numQueries: number;
  docsPerQuery: number;
  grouping: FlopsGrouping;
  threshold: number | null;
};
const golden: {
  flops: Flops[];
  dfFlops: (Flops & { documentShares: number[]; alpha: number; beta: number })[];
  l1: Regularised[];
  kl: (Taught & { temperature: number; teacherTemperature: number })[];
  marginMse: Taught[];
  infoNce: (Ranked & { inBatchNegatives: boolean; otherPositives: boolean; temperature: number })[];
  scores: (Regularised & Taught & { candidates: Candidates; idf: number[]; terms: number[][]; dIdf: number[] })[];
} = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../test/golden/losses/losses.json'), 'utf8'));

/** Losses to 1e-12, gradients to the rounding of the 32-bit floats that they are kept in: what is 1e-60 is 0 there. */
function agree(loss: number, gradient: Float32Array, expected: { loss: number; gradient: Rows }): void {
  expect(Math.abs(loss - expected.loss)).toBeLessThanOrEqual(1e-12 * Math.max(1, Math.abs(expected.loss)));
  expect(relativeError(gradient, expected.gradient.flat().map(Math.fround))).toBeLessThan(1e-7);
}

describe('the losses of PyTorch, values within 1e-12 and gradients within 1e-7', () => {
  it('FLOPS: by position and not, with mask and without', () => {
    expect(golden.flops).toHaveLength(30);
    for (const { w, loss, dW, ...options } of golden.flops) {
      const ours = flops(matrixFromRows(w), options, options);
      agree(ours.loss, ours.dW.data, { loss, gradient: dW });
    }
  });

  it('DF-FLOPS: the same, with steep weights and shallow ones', () => {
    expect(golden.dfFlops).toHaveLength(24);
    for (const { w, loss, dW, documentShares, ...options } of golden.dfFlops) {
      const shares = { documentShares: Float32Array.from(documentShares) };
      const ours = dfFlops(matrixFromRows(w), options, { ...options, ...shares });
      agree(ours.loss, ours.dW.data, { loss, gradient: dW });
    }
  });

  it('L1', () => {
    expect(golden.l1).toHaveLength(2);
    for (const { w, loss, dW } of golden.l1) {
      const ours = l1(matrixFromRows(w));
      agree(ours.loss, ours.dW.data, { loss, gradient: dW });
    }
  });

  it('KL: one temperature and two, scores far apart', () => {
    expect(golden.kl).toHaveLength(16);
    for (const { scores, teacher, loss, dScores, ...options } of golden.kl) {
      const ours = kl(matrixFromRows(scores), matrixFromRows(teacher), options);
      agree(ours.loss, ours.dScores.data, { loss, gradient: dScores });
    }
  });

  it('MarginMSE', () => {
    expect(golden.marginMse).toHaveLength(6);
    for (const { scores, teacher, loss, dScores } of golden.marginMse) {
      const ours = marginMse(matrixFromRows(scores), matrixFromRows(teacher));
      agree(ours.loss, ours.dScores.data, { loss, gradient: dScores });
    }
  });

  it('InfoNCE: in the batch and not, other positives and not', () => {
    expect(golden.infoNce).toHaveLength(16);
    for (const { scores, loss, dScores, ...options } of golden.infoNce) {
      const ours = infoNce(matrixFromRows(scores), options);
      agree(ours.loss, ours.dScores.data, { loss, gradient: dScores });
    }
  });
});

describe('scores and a KL on them, as PyTorch has them within 1e-6', () => {
  it('go back to documents and to a learnable IDF', () => {
    expect(golden.scores).toHaveLength(10);
    for (const { w, idf, terms, teacher, candidates, ...expected } of golden.scores) {
      const documents = matrixFromRows(w);
      const queries = terms.map((ids) => ({
        terms: Uint32Array.from(ids),
        weights: Float32Array.from(ids, (j) => idf[j]),
      }));
      const s = scores(queries, documents, candidates);
      expect(relativeError(s.data, expected.scores.flat())).toBeLessThan(1e-7);
      const { loss, dScores } = kl(s, matrixFromRows(teacher));
      expect(loss).toBeCloseTo(expected.loss, 6); // the scores are 32-bit floats
      const dW = matrix(documents.rows, documents.cols);
      const dQueryWeights = queries.map(({ weights }) => new Float32Array(weights.length));
      addScoreGradients({ queries, w: documents, dScores }, { dW, dQueryWeights });
      expect(relativeError(dW.data, expected.dW.flat())).toBeLessThan(1e-6);
      const dIdf = new Float64Array(idf.length);
      queries.forEach(({ terms }, n) => {
        terms.forEach((j, k) => {
          dIdf[j] += dQueryWeights[n][k];
        });
      });
      expect(relativeError(dIdf, expected.dIdf)).toBeLessThan(1e-6);
    }
  });
});
