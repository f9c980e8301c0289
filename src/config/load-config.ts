/**
 * Configuration: YAML or JSON, plus `--set` overrides, to a value that a schema has checked. Every problem found is
 * reported at once, each with its place. The schemas live beside their owners, as `z.strictObject`s.
 */
import { type FileHandle, open } from 'node:fs/promises';
import type { z } from 'zod';
import { ConfigError, messageOf } from '../core/index.ts';
import { type Path, type Problem, readDocument, type SourceDocument } from './document.ts';
import { findings } from './issues.ts';
import { applyOverride, type Override, readOverride } from './override.ts';

/** Largest configuration read, in bytes. Ours have two thousand; a file this big is a wrong file. */
const MAX_BYTES = 1_000_000;

/** Problems listed in full; a wrong file can have thousands. */
const MAX_LISTED = 20;

/** How a configuration is read. */
export type ConfigOptions = {
  /** Overrides, `a.b=value`, in order; the last one for a path wins. */
  readonly set?: readonly string[];
  /** What to call the text in messages. */
  readonly name?: string;
};

/** Checks a configuration given as text. */
export function parseConfig<Schema extends z.ZodType>(
  text: string,
  schema: Schema,
  { set = [], name = 'config' }: ConfigOptions = {},
): z.output<Schema> {
  if (text.length > MAX_BYTES) throw tooLarge(name);
  const source = readDocument(text, name);
  const { overrides, value, problems } = override(source, set);
  if (problems.length > 0) throw configError(name, problems);
  const checked = schema.safeParse(value, { reportInput: true });
  if (checked.success) return checked.data;
  const wrong = checked.error.issues.flatMap((issue) => findings(schema, issue));
  throw configError(
    name,
    wrong.map(({ path, part, message }) => ({ where: place({ path, part, source, overrides, name }), message })),
  );
}

/** Reads and checks a configuration file. */
export async function loadConfig<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
  { set = [], name = file }: ConfigOptions = {},
): Promise<z.output<Schema>> {
  return parseConfig(await readText(file), schema, { set, name });
}

function override(source: SourceDocument, set: readonly string[]) {
  const problems = [...source.problems];
  const overrides: Override[] = [];
  let { value } = source;
  for (const text of set) {
    const read = readOverride(text);
    problems.push(...read.problems);
    if (!read.override || source.problems.length > 0) continue;
    const applied = applyOverride(value, read.override);
    if (applied.problem) problems.push(applied.problem);
    value = applied.value;
    overrides.push(read.override);
  }
  return { overrides, value, problems };
}

type Sought = {
  readonly path: Path;
  readonly part: 'key' | 'value';
  readonly source: SourceDocument;
  readonly overrides: readonly Override[];
  readonly name: string;
};

/** The override that wrote the value at `path`; else its place in the file; else that of the nearest section around it. */
function place({ path, part, source, overrides, name }: Sought): string {
  const writer = overrides.findLast((candidate) => startsWith(path, candidate.path));
  if (writer) return writer.name;
  const written = source.locate(path, part);
  if (written !== undefined) return written;
  const maker = overrides.find((candidate) => startsWith(candidate.path, path));
  if (maker && path.length > 0) return maker.name;
  return path.length === 0 ? name : place({ path: path.slice(0, -1), part: 'key', source, overrides, name });
}

function startsWith(path: Path, start: Path): boolean {
  return start.every((step, i) => i < path.length && String(path[i]) === String(step));
}

function configError(name: string, problems: readonly Problem[]): ConfigError {
  const lines = problems.slice(0, MAX_LISTED).map(({ where, message }) => `${where}: ${message}`);
  if (lines.length === 1 && problems.length === 1) return new ConfigError(lines[0]);
  if (problems.length > lines.length) lines.push(`and ${problems.length - lines.length} more`);
  return new ConfigError([`${name} has ${problems.length} problems`, ...lines].join('\n  '));
}

function tooLarge(name: string): ConfigError {
  return new ConfigError(`${name} is larger than ${MAX_BYTES / 1e6} MB; configurations are small`);
}

async function readText(file: string): Promise<string> {
  const bytes = await readBytes(file);
  if (bytes.length > MAX_BYTES) throw tooLarge(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ConfigError(`${file} is not UTF-8 text`, { cause });
  }
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    const handle = await open(file, 'r');
    return await readAtMost(handle, MAX_BYTES + 1).finally(() => handle.close());
  } catch (cause) {
    throw new ConfigError(`${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** Reads to the end or to the limit, so that a device or a huge file cannot fill the memory. */
async function readAtMost(handle: FileHandle, limit: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(limit);
  let size = 0;
  for (let bytesRead = -1; bytesRead !== 0 && size < limit; size += bytesRead)
    ({ bytesRead } = await handle.read(buffer, size));
  return buffer.subarray(0, size);
}
