/** Which parameters a network has, and which of them are trained. */
import { ConfigError } from '../../core/index.ts';
import type { Checkpoint } from '../../model/index.ts';
import { isFeedForward, TIED, TOPIC } from '../../model/index.ts';
import type { ParameterGroup, ParameterSpec } from './parameters.ts';

/** The name of the weights of query terms among the parameters. */
export const IDF_PARAMETER = 'idf';
/** What they are made of where they are a projection of the word embeddings. */
export const PROJECTION = { weight: 'idf.weight', bias: 'idf.bias' } as const;

/** Whether and how the weights of query terms are learned: each for itself, or as a projection. */
export type IdfLearning = boolean | 'projected';

/** What a topic head decides by, and compares with: it has no gradient, or none that says what it is worth. */
const THRESHOLDS = new Set<string>([TOPIC.bias, TOPIC.ownBias, TOPIC.mean]);

/** What of an encoder is not trained. */
export type FrozenParts = {
  /** Layers from the first on that stay as they are, the embeddings with them; 0 for none. */
  readonly frozenLayers: number;
  /** Whether the embeddings stay as they are even where no layer does. A decoder tied to them stays with them, and the term vectors of a topic head. */
  readonly freezeEmbeddings: boolean;
  /** Whether the matrices of the feed-forward part of layers stay, too; they do not if not given. */
  readonly freezeFeedForward?: boolean | undefined;
};

/** What of a network is trained. */
export type TrainedParts = FrozenParts & { readonly learnsIdf: IdfLearning };

/** The parameters of a checkpoint, and those of query terms. */
export function parameterSpecs(checkpoint: Checkpoint, parts: TrainedParts): ParameterSpec[] {
  const { usedNames, decoderBiasName, config } = checkpoint;
  const { learnsIdf } = parts;
  checkFrozenLayers(checkpoint, parts);
  const inHead = new Set<string>([decoderBiasName, TIED.scale, TIED.inputShare]); // TIED.pooled is a matrix like the encoder's
  const groupOf = (name: string): ParameterGroup | undefined => {
    if (THRESHOLDS.has(name)) return undefined;
    if (inHead.has(name)) return 'head';
    return isFrozen(name, parts) ? undefined : 'encoder';
  };
  const network = usedNames.map((name) => ({ name, shape: checkpoint.entry(name).shape, group: groupOf(name) }));
  const group = 'idf' as const;
  const idf = { name: IDF_PARAMETER, shape: [config.vocabSize], group: learnsIdf === true ? group : undefined };
  if (learnsIdf !== 'projected') return [...network, idf];
  const weight = { name: PROJECTION.weight, shape: [config.hiddenSize], group };
  return [...network, idf, weight, { name: PROJECTION.bias, shape: [1], group }];
}

/** Those of its encoder alone. */
export function encoderSpecs(checkpoint: Checkpoint, parts: FrozenParts): ParameterSpec[] {
  checkFrozenLayers(checkpoint, parts);
  const names = checkpoint.usedNames.filter((name) => name.startsWith('bert.'));
  return names.map((name) => ({
    name,
    shape: checkpoint.entry(name).shape,
    group: isFrozen(name, parts) ? undefined : 'encoder',
  }));
}

function checkFrozenLayers({ head, config: { numLayers } }: Checkpoint, { frozenLayers }: FrozenParts): void {
  if (frozenLayers > numLayers)
    throw new ConfigError(`engine.freezeLayers is ${frozenLayers}, but the network has ${numLayers} layers`);
  if (head === 'topic' && frozenLayers === numLayers)
    throw new ConfigError(
      `engine.freezeLayers is ${frozenLayers}, all that the network has: under a topic head one has to learn`,
    );
}

function isFrozen(name: string, { frozenLayers, freezeEmbeddings, freezeFeedForward = false }: FrozenParts): boolean {
  const layer = /^bert\.encoder\.layer\.(\d+)\./.exec(name)?.[1];
  if (layer !== undefined) return Number(layer) < frozenLayers || (freezeFeedForward && isFeedForward(name));
  if (name === TOPIC.terms) return freezeEmbeddings;
  return name.startsWith('bert.embeddings.') && (freezeEmbeddings || frozenLayers > 0);
}
