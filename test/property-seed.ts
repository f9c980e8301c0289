/**
 * Property tests draw the same cases in every run, so that what passed here passes in CI. `LZERO_FC_SEED=N` draws others,
 * and `LZERO_FC_RUNS=N` more of them where a test does not say how many.
 */
import fc from 'fast-check';

const { LZERO_FC_SEED, LZERO_FC_RUNS } = process.env;

fc.configureGlobal({
  seed: Number(LZERO_FC_SEED ?? 20_261_117),
  ...(LZERO_FC_RUNS ? { numRuns: Number(LZERO_FC_RUNS) } : {}),
});
