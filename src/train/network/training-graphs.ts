/**
 * The graphs of the encoder in a training step: from token ids to rows u, and from ∂L/∂u back to every trained parameter.
 * What u is, what follows decides: decoder inputs of tokens, or mean states of documents (network-output.ts); heads have their
 * own graphs (training-head.ts). Losses are not in them: they see the whole batch, graphs only a piece of it (GradCache: Gao et
 * al., RepL4NLP 2021, https://arxiv.org/abs/2101.06983, § 3.2).
 *
 *     lower     ids, mask                     → states of the last frozen layer           only where layers are frozen
 *     forward   ids, mask (or those states)   → u [rows, H] (, what backward reads)
 *     backward  the same, ∂L/∂u               → gradients of parameters and of the gathered word embeddings
 *
 * Parameters are inputs under their names. The table of word embeddings gets its gradient outside, where rows are added
 * one after the other: the operator that would add them in the graph (ScatterND) races on two threads.
 */
import { assert } from '../../core/index.ts';
import type { Node, Value } from '../../graph/index.ts';
import { backward, dropout, GraphBuilder, gather, savedValues, subgraph } from '../../graph/index.ts';
import type { BertConfig, Dropout } from '../../model/index.ts';
import { bertEncoder, floatProducts, WORD_EMBEDDINGS } from '../../model/index.ts';
import type { NetworkOutput } from './network-output.ts';
import type { ParameterSpec } from './parameters.ts';

/** How the backward pass comes by what the forward pass has computed. */
export const ACTIVATION_MODES = ['recompute', 'save'] as const;
/** `recompute` computes it again, in little memory; `save` keeps what costs most. */
export type ActivationMode = (typeof ACTIVATION_MODES)[number];

/** What the graphs are made for. */
export type GraphOptions = {
  readonly mode: ActivationMode;
  /** Layers from the first on that stay as they are, the embeddings with them; 0 for none. */
  readonly frozenLayers: number;
  /** Share of elements that dropout sets to 0; 0 for none. */
  readonly dropout: number;
};

/** A place where dropout happens: the input that its mask goes to, and the mask's shape for a piece of B·T tokens. */
export type DropoutPlace = { readonly input: string; shape(numDocs: number, numTokens: number): number[] };

/** The graphs, and the names of what goes in and comes out beside `ids`, `mask`, `u` and `du`. */
export type TrainingGraphs = {
  readonly lower: GraphBuilder | undefined;
  readonly forward: GraphBuilder;
  readonly backward: GraphBuilder;
  /** The input of `forward` and `backward` that what `lower` gives goes to. */
  readonly statesInput: string | undefined;
  /** Values that `forward` gives and `backward` takes, under their names in both. */
  readonly saved: readonly string[];
  /** Parameters that `backward` gives gradients of, each under the name `d:` + its own. */
  readonly differentiated: readonly string[];
  readonly dropoutPlaces: readonly DropoutPlace[];
};

/** The name under which `backward` gives a gradient. */
export function gradientName(parameter: string): string {
  return `d:${parameter}`;
}

/** The name under which `lower` gives the states of the last frozen layer, [N, H]. */
export const STATES = 'states';
/** The name of the gradient of the gathered word embeddings, [B, T, H]. */
export const WORD_ROWS = 'd:words';

/** An encoder, and what its states become. */
export type EncoderNetwork = { readonly config: BertConfig; readonly output: NetworkOutput };

/** What gradients are made of. */
type Trained = {
  readonly output: NetworkOutput;
  readonly specs: readonly ParameterSpec[];
  readonly parameters: (name: string) => Value;
  /** Gathered word embeddings. */
  readonly words: Value;
};

/** Builds the graphs of a network whose parameters are `specs`. */
export function trainingGraphs(
  { config, output }: EncoderNetwork,
  specs: readonly ParameterSpec[],
  options: GraphOptions,
): TrainingGraphs {
  const g = new GraphBuilder('training');
  const parameters = parameterInputs(g, specs);
  const places: DropoutPlace[] = [];
  const words = once((ids: Value) => gather(g, parameters(WORD_EMBEDDINGS), ids));
  const products = { ...floatProducts(g, parameters), words };
  const ids = g.input('ids', 'int32', ['B', 'T']);
  const mask = g.input('mask', 'float32', ['B', 'T']);
  const encoder = bertEncoder(g, config, parameters, {
    ids,
    mask,
    products,
    dropout: options.dropout > 0 ? dropoutWith(g, config, { rate: options.dropout, places, specs }) : undefined,
  });
  const u = output.rows(g, encoder, { parameters, products });
  const numForward = g.nodes.length;
  const du = g.input('du', 'float32', u.shape);
  const given = options.frozenLayers > 0 ? [encoder.states[options.frozenLayers]] : [];
  const gradients = gradientsOf(g, { u, du }, { output, specs, parameters, words: words(ids) });
  const outputs = Object.values(gradients);
  const saved = options.mode === 'save' ? savedValues(g, { outputs, numForward, given, isCostly }) : [];
  return {
    lower: given.length > 0 ? subgraph(g, { name: 'lower', outputs: { [STATES]: given[0] } }) : undefined,
    forward: subgraph(g, { name: 'forward', outputs: { u, ...byName(saved) }, given }),
    backward: subgraph(g, { name: 'backward', outputs: gradients, given: [...given, ...saved] }),
    statesInput: given[0]?.name,
    saved: saved.map(({ name }) => name),
    differentiated: specs.flatMap(({ name }) => (gradientName(name) in gradients ? [name] : [])),
    dropoutPlaces: places,
  };
}

/**
 * What a run gives has to be copied out of the engine into new memory, about half a millisecond for a megabyte. Of a MiniLM
 * on two cores that pays for the two products of the feed-forward part, whose matrices are not square. Saving the other
 * products too comes out even; saving attention, gelu and the norms as well costs more than computing them again.
 */
function isCostly({ op, inputs: [, weight] }: Node): boolean {
  return op === 'Gemm' && weight?.shape[0] !== weight?.shape[1];
}

/** Under its own name a value costs no copy. */
function byName(values: readonly Value[]): Record<string, Value> {
  return Object.fromEntries(values.map((value) => [value.name, value]));
}

/** Parameters as inputs of the graph, declared when first asked for. */
function parameterInputs(g: GraphBuilder, specs: readonly ParameterSpec[]): (name: string) => Value {
  const shapes = new Map(specs.map(({ name, shape }) => [name, shape]));
  const made = new Map<string, Value>();
  return (name) => {
    const shape = shapes.get(name);
    assert(shape !== undefined, `the network asks for ${name}, which is no parameter`);
    const value = made.get(name) ?? g.input(name, 'float32', shape);
    made.set(name, value);
    return value;
  };
}

/** A function of one value that makes its nodes once. */
function once(make: (ids: Value) => Value): (ids: Value) => Value {
  let made: Value | undefined;
  return (ids) => {
    made ??= make(ids);
    return made;
  };
}

type DropoutParts = {
  readonly rate: number;
  readonly places: DropoutPlace[];
  readonly specs: readonly ParameterSpec[];
};

/**
 * Dropout whose masks are inputs of the graph: both passes are fed the same ones. Frozen layers run without: what they
 * give a document is computed once and kept, so it cannot depend on chance.
 */
function dropoutWith(
  g: GraphBuilder,
  { numHeads, hiddenSize }: BertConfig,
  { rate, places, specs }: DropoutParts,
): Dropout {
  const trained = new Set(specs.filter(isInGraph).map(({ name }) => name));
  return (x, part) => {
    const readByX = subgraph(g, { name: 'before-dropout', outputs: { x } }).inputs;
    if (!readByX.some(({ name }) => trained.has(name))) return x;
    const input = `keep:${places.length}`;
    const shape = (numDocs: number, numTokens: number): number[] =>
      part === 'attention' ? [numDocs, numHeads, numTokens, numTokens] : [numDocs * numTokens, hiddenSize];
    places.push({ input, shape });
    return dropout(g, x, { keep: g.input(input, 'uint8', x.shape), rate });
  };
}

/** Whether a parameter is trained, and read by the network: the weights of query terms are not. */
function isInGraph({ group }: ParameterSpec): boolean {
  return group !== undefined && group !== 'idf';
}

/** Gradients by the names of outputs, of what is trained. Some are made outside, as the decoder's with the head's. */
function gradientsOf(
  g: GraphBuilder,
  { u, du }: { readonly u: Value; readonly du: Value },
  { output, specs, parameters, words }: Trained,
): Record<string, Value> {
  const outside = new Set([WORD_EMBEDDINGS, ...output.outside]);
  const trained = specs.filter(isInGraph).map(({ name }) => name);
  const inside = trained.filter((name) => !outside.has(name));
  const wanted = new Map(inside.map((name) => [gradientName(name), parameters(name)]));
  if (trained.includes(WORD_EMBEDDINGS)) wanted.set(WORD_ROWS, words);
  const gradients = backward(g, new Map([[u, du]]), [...wanted.values()]);
  return Object.fromEntries(
    Array.from(wanted, ([name, value]) => {
      const gradient = gradients.get(value);
      assert(gradient !== undefined, `${name} does not depend on the network`);
      return [name, gradient];
    }),
  );
}
