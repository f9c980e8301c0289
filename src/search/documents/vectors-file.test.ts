import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { flipped, sourceOf, written } from '../../../test/search/memory.ts';
import { IndexFormatError, InputError, type SparseVector, sparseVector } from '../../core/index.ts';
import { emptyBitmap, setBit } from './bitmap.ts';
import { mergeVectors, VectorsReader, verifyVectors, writeVectors } from './vectors-file.ts';

const term = fc.oneof(fc.nat(300), fc.nat(30_000), fc.constantFrom(0, 0xfffffffe, 0xffffffff));
const weight = fc.float({ min: Math.fround(1e-30), max: Math.fround(1e30), noNaN: true });
const vector = fc.uniqueArray(fc.tuple(term, weight), { selector: ([t]) => t, maxLength: 30 }).map((entries) =>
  sparseVector(
    entries.map(([t]) => t),
    entries.map(([, w]) => w),
  ),
);
const vectors = fc.array(vector, { maxLength: 30 });

const fileOf = (list: readonly SparseVector[]): Uint8Array => written((sink) => writeVectors(list, sink));

function vectorsOf(bytes: Uint8Array): SparseVector[] {
  const reader = new VectorsReader(sourceOf(bytes));
  return Array.from({ length: reader.numDocs }, (_, docId) => reader.vectorAt(docId));
}

describe('a vectors file', () => {
  test.prop([vectors])('gives back every vector to the bit, and the largest weight', (expected) => {
    const bytes = fileOf(expected);
    expect(vectorsOf(bytes)).toEqual(expected);
    const maxWeight = Math.max(0, ...expected.flatMap(({ weights }) => [...weights]));
    expect(verifyVectors(sourceOf(bytes))).toEqual({ numDocs: expected.length, maxWeight });
  });

  test.prop([vectors, vectors, fc.array(fc.boolean(), { minLength: 60, maxLength: 60 })])(
    'merged without the deleted equals one written at once',
    (first, second, flags) => {
      const inputs = [first, second].map((part, i) => {
        const deleted = emptyBitmap(part.length);
        part.forEach((_, docId) => {
          if (flags[30 * i + docId]) setBit(deleted, docId);
        });
        return { source: sourceOf(fileOf(part)), deleted: i === 0 ? deleted : undefined };
      });
      const merged = written((sink) => mergeVectors(inputs, sink));
      const kept = [...first.filter((_, docId) => !flags[docId]), ...second];
      expect(vectorsOf(merged)).toEqual(kept);
      expect(verifyVectors(sourceOf(merged)).numDocs).toBe(kept.length);
    },
  );

  test.prop([vectors, fc.nat()])('with a wrong bit is found by verify, and never crashes a reader', (list, seed) => {
    const bytes = fileOf(list);
    const damaged = flipped(bytes, seed % (8 * bytes.length));
    expect(() => verifyVectors(sourceOf(damaged))).toThrow(IndexFormatError);
    try {
      vectorsOf(damaged);
    } catch (error) {
      expect(error).toBeInstanceOf(IndexFormatError);
    }
  });

  test.prop([vectors, vectors, fc.nat()])('with a wrong bit is not merged', (first, second, seed) => {
    const bytes = fileOf(second);
    const inputs = [fileOf(first), flipped(bytes, seed % (8 * bytes.length))].map((file, i) => ({
      source: sourceOf(file, `file ${i}`),
      deleted: undefined,
    }));
    const merge = (): unknown => written((sink) => mergeVectors(inputs, sink));
    expect(merge).toThrow(IndexFormatError);
    expect(merge).toThrow('file 1');
  });

  it('reads one vector with two reads', () => {
    const many = Array.from({ length: 1000 }, (_, i) => sparseVector([i, i + 5], [1, 2]));
    const source = sourceOf(fileOf(many));
    const reader = new VectorsReader(source);
    source.reads = 0;
    expect(reader.vectorAt(700)).toEqual(many[700]);
    expect(source.reads).toBe(2);
  });

  it('refuses terms that do not ascend and weights that are not positive', () => {
    const wrong = (terms: number[], weights: number[]): SparseVector => ({
      terms: Uint32Array.from(terms),
      weights: Float32Array.from(weights),
    });
    for (const bad of [wrong([2, 1], [1, 1]), wrong([1, 1], [1, 1]), wrong([1], [0]), wrong([1], [Number.NaN])])
      expect(() => fileOf([bad])).toThrow(InputError);
  });
});
