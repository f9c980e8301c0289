/**
 * What fixes the vectors of a dense encoder: how positions become one vector, whether that has length 1, how much of a
 * text is read, and what is put before it. sentence-transformers folders say it; bare checkpoints leave it to options,
 * and are pooled by their mean where these are silent.
 *
 *     modules.json    Transformer, Pooling, and behind them Normalize, Dense, or Normalize before and after a Dense
 */
import { join } from 'node:path';
import { z } from 'zod';
import { CheckpointError, ConfigError, quoted } from '../../core/index.ts';
import { exists } from '../../files/index.ts';
import { requireFolder } from '../layouts/find-layout.ts';
import { folderInside, readJsonFile, readJsonIfThere, unsupported } from '../layouts/module-files.ts';
import { GRAPHS, positionsIn, weightsIn } from '../layouts/network-in.ts';
import { readLength } from '../layouts/read-sentence-transformers.ts';
import { MODULES_FILE, moduleListSchema } from '../layouts/st-modules.ts';
import { MIN_ENCODE_LENGTH } from '../settings.ts';
import { pooledOutputOf } from './dense-outputs.ts';
import { type ProjectionSettings, readProjectionSettings } from './projection.ts';

/** How the vectors of positions become one: their mean, or that of [CLS]. */
export const POOLINGS = ['mean', 'cls'] as const;
/** A name among POOLINGS. */
export type Pooling = (typeof POOLINGS)[number];

/** Which side of a search a text is on. */
export type Role = 'query' | 'document';

/** What fixes the vectors, the weights aside. */
export type DenseSettings = {
  readonly pooling: Pooling;
  /** Whether vectors have length 1, so that products are cosines. */
  readonly normalise: boolean;
  /** Tokens that are read of a text, special ones included. */
  readonly maxLength: number;
  /** What stands before a text, by its side. */
  readonly prefixes: Readonly<Record<Role, string>>;
  /** The linear layer behind the pooling; left out where there is none. */
  readonly projection?: ProjectionSettings | undefined;
};

/** What a user may say; it counts before what the folder says. */
export type DenseOptions = {
  readonly pooling?: Pooling | undefined;
  readonly normalise?: boolean | undefined;
  readonly maxLength?: number | undefined;
  readonly queryPrefix?: string | undefined;
  readonly documentPrefix?: string | undefined;
};

/** A dense encoder on disk. */
export type DenseFolder = {
  readonly settings: DenseSettings;
  /** Where config.json, weights and tokenizer are. */
  readonly encoderFolder: string;
  /** The ONNX file, where there are no weights that we run ourselves. */
  readonly graph: string | undefined;
  /** Where the linear layer is, if there is one. */
  readonly projectionFolder?: string | undefined;
  /** Whether neither the folder nor an option says how to pool, and it matters. */
  readonly isPoolingAssumed: boolean;
};

/** What most bare checkpoints were trained for. */
const ASSUMED_POOLING: Pooling = 'mean';

/** Reads what a folder says, with `options` for what it leaves open. */
export async function readDenseFolder(folder: string, options: DenseOptions = {}): Promise<DenseFolder> {
  await requireFolder(folder);
  const said = (await exists(join(folder, MODULES_FILE))) ? await readModules(folder) : { encoderFolder: folder };
  const { encoderFolder } = said;
  const graph = await graphIn(encoderFolder);
  const positions = await positionsIn(encoderFolder, { kind: graph === undefined ? 'bert' : 'onnx' });
  const prompts = await readPrompts(folder);
  const { pooling, isPoolingAssumed } = await poolingOf({ graph, asked: options.pooling, said: said.pooling });
  const settings = {
    pooling,
    normalise: options.normalise ?? said.normalise ?? true,
    maxLength: await lengthOf(encoderFolder, positions, options.maxLength),
    prefixes: {
      query: options.queryPrefix ?? prompts.query ?? '',
      document: options.documentPrefix ?? prompts.document ?? '',
    },
    ...(said.projection && { projection: said.projection }),
  };
  return { settings, encoderFolder, graph, projectionFolder: said.projectionFolder, isPoolingAssumed };
}

type PoolingSources = Pick<DenseFolder, 'graph'> & {
  readonly asked: Pooling | undefined;
  /** By the folder. */
  readonly said: Pooling | undefined;
};

/** How to pool, and whether anybody has said so. Graphs that give pooled vectors take no orders. */
async function poolingOf({ graph, asked, said }: PoolingSources) {
  const pooledOutput = graph === undefined ? undefined : await pooledOutputOf(graph);
  if (pooledOutput !== undefined && asked !== undefined)
    throw new ConfigError(`${graph} gives pooled vectors (${pooledOutput}): pooling ${asked} has no effect`, {
      hint: 'leave it out',
    });
  const pooling = asked ?? said;
  return {
    pooling: pooling ?? ASSUMED_POOLING,
    isPoolingAssumed: pooling === undefined && pooledOutput === undefined,
  };
}

/** The ONNX file of a folder without weights. Weights come before a graph: they can be checked, and quantised. */
async function graphIn(folder: string): Promise<string | undefined> {
  if ((await weightsIn(folder)) !== undefined) return undefined;
  for (const file of GRAPHS) if (await exists(join(folder, file))) return join(folder, file);
  return undefined;
}

const transformerSchema = z.looseObject({ max_seq_length: z.int().positive().nullish() });

async function lengthOf(folder: string, positions: number | undefined, asked: number | undefined): Promise<number> {
  if (asked === undefined) {
    const path = join(folder, 'sentence_bert_config.json');
    const said = (await readJsonIfThere(path, transformerSchema))?.max_seq_length;
    const length = said ? { value: said, where: `${path}: max_seq_length` } : undefined;
    return (await readLength(folder, length, positions)).value;
  }
  const most = positions ?? Number.POSITIVE_INFINITY;
  if (Number.isInteger(asked) && asked >= MIN_ENCODE_LENGTH && asked <= most) return asked;
  throw new ConfigError(`${folder}: maxLength ${asked}; expected a whole number from ${MIN_ENCODE_LENGTH} to ${most}`, {
    hint: 'what a text has beyond it is cut off',
  });
}

const promptsSchema = z.looseObject({
  prompts: z.record(z.string(), z.string().nullable()).nullish(),
  default_prompt_name: z.string().nullish(),
});

/** The names under which sentence-transformers looks for the prompt of a side (`encode_query`, `encode_document`). */
const PROMPT_NAMES: Readonly<Record<Role, readonly string[]>> = {
  query: ['query'],
  document: ['document', 'passage', 'corpus'],
};

async function readPrompts(folder: string): Promise<Partial<Record<Role, string>>> {
  const path = join(folder, 'config_sentence_transformers.json');
  const { prompts, default_prompt_name: standard } = (await readJsonIfThere(path, promptsSchema)) ?? {};
  const promptOf = (role: Role): string => {
    const named = prompts ?? {};
    const name = [...PROMPT_NAMES[role], ...(standard ? [standard] : [])].find((known) => Object.hasOwn(named, known));
    return (name !== undefined && named[name]) || ''; // an empty prompt is one, too
  };
  return { query: promptOf('query'), document: promptOf('document') };
}

/** Modules in their order, by the last parts of their class names. What stands in brackets may be missing. */
const SEQUENCE = /^Transformer,Pooling(?<first>,Normalize)?(?<dense>,Dense)?(?<last>,Normalize)?$/;

type Modules = Pick<DenseFolder, 'encoderFolder' | 'projectionFolder'> &
  Partial<Pick<DenseSettings, 'pooling' | 'normalise' | 'projection'>>;

async function readModules(folder: string): Promise<Modules> {
  const path = join(folder, MODULES_FILE);
  const listed = await readJsonFile(path, moduleListSchema);
  const kinds = listed.map(({ type }) => type.split('.').at(-1) ?? '');
  if (kinds.join() === 'Transformer')
    throw new CheckpointError(`${path}: a Transformer without a Pooling gives no vector of a text`, {
      hint: 'name the folder of the transformer itself, and how to pool',
    });
  const found = SEQUENCE.exec(kinds.join())?.groups;
  if (found === undefined)
    throw unsupported(
      path,
      `expected Transformer, Pooling, and perhaps Normalize or Dense, got ${quoted(kinds.join(', '))}`,
      'a sparse model is named without dense:',
    );
  // Normalize has no settings, and some folders are without its empty one.
  const folderOf = (kind: string): Promise<string> => {
    const at = kinds.indexOf(kind);
    return folderInside(folder, listed[at].path, `${path}: ${at}.path`);
  };
  const modules = {
    encoderFolder: await folderOf('Transformer'),
    pooling: await readPooling(await folderOf('Pooling')),
    normalise: kinds.at(-1) === 'Normalize',
  };
  if (found.dense === undefined) return modules;
  const projectionFolder = await folderOf('Dense');
  const projection = { ...(await readProjectionSettings(projectionFolder)), ofUnitVectors: found.first !== undefined };
  return { ...modules, projection, projectionFolder };
}

const poolingSchema = z.looseObject({
  pooling_mode: z.union([z.string(), z.array(z.string())]).optional(),
  include_prompt: z.boolean().optional(),
});

/** Before version 6 each mode had a key of its own. */
const LEGACY_MODE = /^pooling_mode_(\w+?)(?:_tokens?)?$/;

/** Keys as sentence-transformers 6.2 reads them (`Pooling.load_config`). */
async function readPooling(folder: string): Promise<Pooling> {
  const path = join(folder, 'config.json');
  const config = await readJsonFile(path, poolingSchema);
  const legacy = Object.entries(config).flatMap(([key, value]) =>
    value === true ? (LEGACY_MODE.exec(key)?.[1] ?? []) : [],
  );
  const modes = config.pooling_mode === undefined ? legacy : [config.pooling_mode].flat();
  if (config.include_prompt === false)
    throw unsupported(
      `${path}: include_prompt`,
      'expected true, got false',
      'prompts that are not pooled cannot be used',
    );
  if (modes.length === 0) return 'mean';
  const known = POOLINGS.find((name) => name === modes[0]);
  if (known !== undefined && modes.length === 1) return known;
  throw unsupported(`${path}: pooling_mode`, `expected ${POOLINGS.join(' or ')}, got ${quoted(modes.join(', '))}`);
}
