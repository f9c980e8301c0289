/** The matrices of a checkpoint in codes, taken while its tensors pass through memory. */
import { assert } from '../../core/index.ts';
import type { Checkpoint } from '../checkpoint.ts';
import type { Network } from '../graph-runner.ts';
import type { QuantisedRows } from './codes.ts';
import { quantiseRows } from './codes.ts';
import type { MatrixLookup } from './integer-products.ts';
import { matrixNames } from './matrix-names.ts';

/** What a network in integers is made with: `matrices` knows them all once `visit` has seen the tensors. */
export function quantisedMatrices(
  checkpoint: Checkpoint,
): Required<Pick<Network, 'visit' | 'without'>> & { readonly matrices: MatrixLookup } {
  const without = matrixNames(checkpoint);
  const quantised = new Map<string, QuantisedRows>();
  return {
    without,
    visit: (name, values) => {
      if (without.has(name)) quantised.set(name, quantiseRows(values, checkpoint.entry(name).shape[1]));
    },
    matrices: (name) => {
      const rows = quantised.get(name);
      assert(rows !== undefined, `${name} was not quantised`);
      return rows;
    },
  };
}
