/**
 * The sparse head in training: pooled logits, and the position that gave each its maximum, which alone gets a gradient.
 *
 *     z[b,j] = max_i u[b,i]·w_j + b_j          position[b,j] = argmax_i u[b,i]·w_j
 *
 *     ∂L/∂u[b,i] = Σ_{j: position = i} g·w_j        ∂L/∂w_j = Σ_b g·u[b, position]        g = ∂L/∂z[b,j]
 *
 * One document at a time and without padding, so that [B, T, V] never exists. Of some thirty thousand terms a few hundred
 * are active and have a gradient: an exact bound in 8-bit integers finds those that can be (src/model/term-bounds.ts), and
 * only they are computed in float32. The backward part is the kernel's (head-backward.ts).
 */
import type { Value } from '../../graph/index.ts';
import { add, cast, GraphBuilder, gather, linear, reduce } from '../../graph/index.ts';
import type { TermFilter } from '../../model/index.ts';
import { possibleTerms, TERMS_PER_TILE } from '../../model/index.ts';

/** Sizes of a decoder. */
export type DecoderSizes = {
  /** V */
  readonly vocabSize: number;
  /** H */
  readonly hiddenSize: number;
};

/** The name of the input that takes a tile of codes. */
export function tileName(tile: number): string {
  return `codes:${tile}`;
}

/** The first terms of the tiles that a decoder's codes are fed in. */
export function tileStarts(vocabSize: number): number[] {
  return Array.from({ length: Math.ceil(vocabSize / TERMS_PER_TILE) }, (_, tile) => tile * TERMS_PER_TILE);
}

/**
 * Only terms that can be active: `u` [T, H], `decoder` [V, H], `bias` [V], and its 8-bit side, `codes:0` …, `scales`,
 * `norms`, `errors`, in; `terms` int32 [C], some of which may come twice, their `z` [C] and `position` int32 [C] out.
 */
export function possibleTermsGraph(sizes: DecoderSizes): GraphBuilder {
  const g = new GraphBuilder('head');
  const { u, decoder, bias } = headInputs(g, sizes);
  const terms = possibleTerms(g, u, { bias, filter: filterInputs(g, sizes) }); // [C]
  g.output('terms', cast(g, terms, 'int32'));
  maxima(g, u, { weight: gather(g, decoder, terms), bias: gather(g, bias, terms) });
  return g;
}

/** Every term: `u`, `decoder` and `bias` in; `z` [V] and `position` int32 [V] out. */
export function allTermsGraph(sizes: DecoderSizes): GraphBuilder {
  const g = new GraphBuilder('full-head');
  const { u, decoder, bias } = headInputs(g, sizes);
  maxima(g, u, { weight: decoder, bias });
  return g;
}

/** Chosen terms: their rows as `decoder` [C, H] and `bias` [C], and `u`, in; `z` [C] and `position` int32 [C] out. */
export function chosenTermsGraph({ hiddenSize }: Pick<DecoderSizes, 'hiddenSize'>): GraphBuilder {
  const g = new GraphBuilder('chosen-head');
  const u = g.input('u', 'float32', ['T', hiddenSize]);
  maxima(g, u, {
    weight: g.input('decoder', 'float32', ['C', hiddenSize]),
    bias: g.input('bias', 'float32', ['C']),
  });
  return g;
}

function headInputs(g: GraphBuilder, { vocabSize, hiddenSize }: DecoderSizes) {
  return {
    u: g.input('u', 'float32', ['T', hiddenSize]),
    decoder: g.input('decoder', 'float32', [vocabSize, hiddenSize]),
    bias: g.input('bias', 'float32', [vocabSize]),
  };
}

/** Codes come tile by tile: cutting them in the graph would copy them for every document. */
function filterInputs(g: GraphBuilder, { vocabSize, hiddenSize }: DecoderSizes): TermFilter {
  const tiles = tileStarts(vocabSize).map((start, tile) => {
    const numTerms = Math.min(TERMS_PER_TILE, vocabSize - start);
    return g.input(tileName(tile), 'uint8', [numTerms, hiddenSize]);
  });
  const [scales, norms, errors] = ['scales', 'norms', 'errors'].map((name) => g.input(name, 'float32', [vocabSize]));
  return { tiles, scales, norms, errors };
}

/** max_i u_i·w_j + b_j and where it was, as outputs. The first where several are equal. */
function maxima(g: GraphBuilder, u: Value, { weight, bias }: { readonly weight: Value; readonly bias: Value }): void {
  const logits = linear(g, weight, { weight: u }); // w·uᵀ, [C, T]
  g.output('z', add(g, reduce(g, logits, { op: 'ReduceMax', axis: 1 }), bias));
  const attributes = { axis: 1, keepdims: 0 };
  const position = g.node('ArgMax', [logits], { dtype: 'int64', shape: [weight.shape[0]] }, { attributes });
  g.output('position', cast(g, position, 'int32'));
}
