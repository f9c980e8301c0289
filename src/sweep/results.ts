/**
 * What came of the points of a sweep, on disk. Each point has a file of its own, so that processes and machines that share a
 * folder never write the same one; results.jsonl is made of all of them.
 *
 *     results/NAME.json     a point that is over: its settings and what came of it
 *     results.jsonl         the same, a line each, in the order of the sweep
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { describeIssues, errorCode, parseJson, ResumeError } from '../core/index.ts';
import { makeFolder, readIfExists, writeFileAtomically } from '../files/index.ts';
import type { Evaluation, IndexCosts } from '../train/index.ts';
import type { SweepPoint } from './points.ts';

const numbersSchema = z.record(z.string(), z.number());

const measuredSchema = z.object({
  collection: z.string(),
  split: z.string(),
  values: numbersSchema,
  /** NDCG@10 of each query. */
  perQuery: numbersSchema,
});

const variantSchema = z.object({
  /** A prune rule, as the command line has it. */
  prune: z.string(),
  values: z.object({
    'ndcg@10': z.number(),
    'mrr@10': z.number(),
    'recall@100': z.number(),
    flops: z.number(),
    docLen: z.number(),
    queryLen: z.number(),
    bytesPerQuery: z.number(),
    indexSize: z.number(),
    bytesPerDoc: z.number(),
  }) satisfies z.ZodType<Evaluation & IndexCosts>,
});

const resultSchema = z.object({
  point: z.string(),
  settings: z.record(z.string(), z.json()),
  seed: z.int().nullable(),
  /** `collapsed`: documents have lost their terms; `diverged`: numbers were not finite any more. */
  status: z.enum(['done', 'collapsed', 'diverged']),
  /** Steps done. */
  steps: z.int(),
  stoppedEarly: z.boolean(),
  /** Of the finished model, by `evaluate` of the configuration. */
  evaluation: z.object({ step: z.int(), values: numbersSchema }).nullable(),
  measured: z.array(measuredSchema),
  /** The model with each prune rule that a search under a budget has asked for; of the development collection. */
  variants: z.array(variantSchema).optional(),
  /** Of all calls that have worked at it: training, and measuring after it. */
  seconds: z.object({ training: z.number(), measuring: z.number() }),
  /** Versions, machine and date of the call that finished it. */
  provenance: z.record(z.string(), z.string()).optional(),
  /** sha256 of the configuration that it was trained by, and of what it was measured on. */
  config: z.string(),
});

/** What came of a point. */
export type PointResult = z.infer<typeof resultSchema>;
/** A finished model with a prune rule. */
export type PrunedResult = z.infer<typeof variantSchema>;
/** A finished model on a collection. */
export type Measured = z.infer<typeof measuredSchema>;

/** The results of a sweep's folder. */
export class SweepResults {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    makeFolder(join(folder, 'results'));
  }

  /** What came of a point, if it is over. One that was trained by another configuration is refused. */
  async find({ name }: Pick<SweepPoint, 'name'>, config: string): Promise<PointResult | undefined> {
    return await readStored(this.#path(name), resultSchema, config);
  }

  /** Keeps what came of a point. */
  async keep(result: PointResult): Promise<void> {
    await writeFileAtomically(this.#path(result.point), `${JSON.stringify(result, undefined, 1)}\n`);
  }

  /** Writes results.jsonl anew. */
  async writeAll(results: readonly PointResult[]): Promise<string> {
    const path = join(this.#folder, 'results.jsonl');
    await writeFileAtomically(path, results.map((result) => `${JSON.stringify(result)}\n`).join(''));
    return path;
  }

  #path(name: string): string {
    return join(this.#folder, 'results', `${name}.json`);
  }
}

/** Every result of a sweep's folder, by the name of its point, whatever configuration it was made by. */
export async function readResults(folder: string): Promise<ReadonlyMap<string, PointResult>> {
  const names = await readdir(join(folder, 'results')).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    return [];
  });
  const results = new Map<string, PointResult>();
  for (const name of names.filter((file) => file.endsWith('.json')).sort()) {
    const path = join(folder, 'results', name);
    const found = parseResult(path, await readFile(path, 'utf8'), resultSchema);
    results.set(found.point, found);
  }
  return results;
}

function parseResult<T>(path: string, text: string, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(parseJson(text, (problem) => new ResumeError(`${path}: ${problem}`)));
  if (!parsed.success) throw new ResumeError(`${path}: ${describeIssues(parsed.error.issues)}`);
  return parsed.data;
}

/** What a file of a point says, if it is there. One that was made by other settings under the same name is refused. */
export async function readStored<T extends { readonly config: string }>(
  path: string,
  schema: z.ZodType<T>,
  config: string,
): Promise<T | undefined> {
  const text = await readIfExists(path);
  if (text === undefined) return undefined;
  const stored = parseResult(path, text, schema);
  if (stored.config === config) return stored;
  throw new ResumeError(`${path} is of another configuration`, {
    hint: 'base, set or measure have changed: name another folder with -o, or delete this one',
  });
}
