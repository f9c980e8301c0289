import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goldenNetwork } from '../../../test/golden/training/fixtures.ts';
import { TrainingMemory } from '../../kernels/index.ts';
import { Checkpoint, TIED, WORD_EMBEDDINGS } from '../../model/index.ts';
import { IDF_PARAMETER, PROJECTION, parameterSpecs, type TrainedParts } from './parameter-specs.ts';
import { Parameters } from './parameters.ts';

const SPECS = [
  { name: 'a', shape: [2, 3], group: 'encoder' },
  { name: 'frozen', shape: [4], group: undefined },
  { name: 'b', shape: [1], group: 'head' },
  { name: 'c', shape: [3], group: 'encoder' },
] as const;

describe('parameters', () => {
  it('lie in one block a group, in the memory that they asked for', () => {
    const parameters = new Parameters(new TrainingMemory(Parameters.sizeBytes(SPECS)), SPECS);
    parameters.get('a').weights.fill(1);
    parameters.get('c').weights.fill(3);
    expect([...(parameters.groups.get('encoder')?.weights ?? [])]).toEqual([1, 1, 1, 1, 1, 1, 3, 3, 3]);
    expect([...parameters.groups.keys()]).toEqual(['encoder', 'head']);
    expect(parameters.get('frozen').gradients).toBeUndefined();
    expect(Array.from(parameters.all, ({ name }) => name)).toEqual(['a', 'c', 'b', 'frozen']);
  });

  it('have gradients in the same order, which clearGradients sets to 0', () => {
    const parameters = new Parameters(new TrainingMemory(Parameters.sizeBytes(SPECS)), SPECS);
    parameters.get('c').gradients?.fill(5);
    expect([...(parameters.groups.get('encoder')?.gradients ?? [])]).toEqual([0, 0, 0, 0, 0, 0, 5, 5, 5]);
    parameters.clearGradients();
    expect(parameters.groups.get('encoder')?.gradients.some((x) => x !== 0)).toBe(false);
  });
});

describe('which parameters are trained', () => {
  let checkpoint: Checkpoint;
  beforeAll(async () => {
    checkpoint = await Checkpoint.open(goldenNetwork('tied'));
  });
  afterAll(() => checkpoint.close());

  const groups = (parts: TrainedParts) =>
    new Map(parameterSpecs(checkpoint, parts).map(({ name, group }) => [name, group]));

  it('all, with a group of its own for the head, and the table of query terms where it is learned', () => {
    const all = groups({ frozenLayers: 0, freezeEmbeddings: false, learnsIdf: true });
    expect([...all.values()].includes(undefined)).toBe(false);
    expect([TIED.bias, TIED.scale, TIED.inputShare].map((name) => all.get(name))).toEqual(['head', 'head', 'head']);
    expect([all.get(WORD_EMBEDDINGS), all.get(IDF_PARAMETER)]).toEqual(['encoder', 'idf']);
  });

  it('the matrix of a pooled head with the encoder, also where layers are frozen: rates of the head are for single numbers', async () => {
    const pooled = await Checkpoint.open(goldenNetwork('pooled'));
    const specs = parameterSpecs(pooled, { frozenLayers: 2, freezeEmbeddings: false, learnsIdf: false });
    await pooled.close();
    expect(specs.filter(({ group }) => group === 'encoder').map(({ name }) => name)).toEqual([TIED.pooled]);
  });

  it('of a projection its two parts, and not the table that it begins near', () => {
    const some = groups({ frozenLayers: 0, freezeEmbeddings: false, learnsIdf: 'projected' });
    const [table, weight, bias] = [IDF_PARAMETER, PROJECTION.weight, PROJECTION.bias].map((name) => some.get(name));
    expect([table, weight, bias]).toEqual([undefined, 'idf', 'idf']);
    expect(groups({ frozenLayers: 0, freezeEmbeddings: false, learnsIdf: true }).has(PROJECTION.weight)).toBe(false);
  });

  it('embeddings frozen: all of them and nothing else', () => {
    const some = groups({ frozenLayers: 0, freezeEmbeddings: true, learnsIdf: true });
    const frozen = [...some].flatMap(([name, group]) => (group === undefined ? [name] : []));
    expect(frozen.every((name) => name.startsWith('bert.embeddings.'))).toBe(true);
    expect(frozen).toHaveLength(5); // words, positions, types, and the norm's two
  });

  it('feed-forward parts frozen: two matrices a layer, and not their biases', () => {
    const some = groups({ frozenLayers: 0, freezeEmbeddings: false, freezeFeedForward: true, learnsIdf: true });
    const frozen = [...some].flatMap(([name, group]) => (group === undefined ? [name] : []));
    const matrices = ['intermediate', 'output'].map((part) => `${part}.dense.weight`);
    const layers = [0, 1].map((layer) => `bert.encoder.layer.${layer}`);
    expect(frozen.sort()).toEqual(layers.flatMap((layer) => matrices.map((matrix) => `${layer}.${matrix}`)));
  });

  it('one layer frozen: the embeddings and its 16', () => {
    const some = groups({ frozenLayers: 1, freezeEmbeddings: false, learnsIdf: false });
    const frozen = [...some].flatMap(([name, group]) => (group === undefined ? [name] : []));
    expect(frozen.filter((name) => name.startsWith('bert.encoder.layer.0.'))).toHaveLength(16);
    expect(frozen).toHaveLength(5 + 16 + 1); // + the table of query terms
  });
});
