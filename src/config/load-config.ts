/**
 * Configuration: YAML or JSON, plus `--set` overrides, to a value that a schema has checked. Every problem found is
 * reported at once, each with its place. The schemas live beside their owners, as `z.strictObject`s.
 */
import { type FileHandle, open } from 'node:fs/promises';
import type { z } from 'zod';
import { ConfigError, errorFrom, failureOf, LzeroError, messageOf, type SettingPath } from '../core/index.ts';
import { type Problem, readDocument, type SourceDocument } from './document.ts';
import { findings } from './issues.ts';
import { applyOverride, type Override, readOverride, showPath } from './override.ts';

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

/** A configuration that was read: to be checked by one schema or several, and asked where a setting stands. */
export class ConfigSource {
  readonly #name: string;
  readonly #document: SourceDocument;
  readonly #overrides: readonly Override[];
  readonly #value: unknown;

  /** Reads a file. */
  static async read(file: string, { set = [], name = file }: ConfigOptions = {}): Promise<ConfigSource> {
    return new ConfigSource(await readText(file), { set, name });
  }

  /** Reads a text; what is no YAML, or an override that fits nothing, is a ConfigError. */
  constructor(text: string, { set = [], name = 'config' }: ConfigOptions = {}) {
    if (text.length > MAX_BYTES) throw tooLarge(name);
    this.#name = name;
    this.#document = readDocument(text, name);
    const { overrides, value, problems } = override(this.#document, set);
    if (problems.length > 0) throw configError(name, problems);
    this.#overrides = overrides;
    this.#value = value;
  }

  /** As it is written, overrides included: to see by which schema it is to be checked. */
  get value(): unknown {
    return this.#value;
  }

  /** The checked value, defaults filled in; a ConfigError has every problem with its place. */
  check<Schema extends z.ZodType>(schema: Schema): z.output<Schema> {
    const checked = schema.safeParse(this.#value, { reportInput: true });
    if (checked.success) return checked.data;
    const wrong = checked.error.issues.flatMap((issue) => findings(schema, issue));
    throw configError(
      this.#name,
      wrong.map(({ path, part, message }) => ({ where: this.#place(path, part), message })),
    );
  }

  /** An error of the same kind that says where the setting stands that it is blamed on; any other error as it is. */
  locate(error: unknown): unknown {
    if (!(error instanceof LzeroError) || error.setting === undefined) return error;
    const where = `${this.#place(error.setting, 'value')}: \`${showPath(error.setting)}\``;
    return errorFrom({ ...failureOf(error, error.code), message: `${where}: ${error.message}` });
  }

  /** The override that wrote the value at `path`; else its place in the file; else that of the nearest section around it. */
  #place(path: SettingPath, part: 'key' | 'value'): string {
    const writer = this.#overrides.findLast((candidate) => startsWith(path, candidate.path));
    if (writer) return writer.name;
    const written = this.#document.locate(path, part);
    if (written !== undefined) return written;
    const maker = this.#overrides.find((candidate) => startsWith(candidate.path, path));
    if (maker && path.length > 0) return maker.name;
    return path.length === 0 ? this.#name : this.#place(path.slice(0, -1), 'key');
  }
}

/** Checks a configuration given as text. */
export function parseConfig<Schema extends z.ZodType>(
  text: string,
  schema: Schema,
  options: ConfigOptions = {},
): z.output<Schema> {
  return new ConfigSource(text, options).check(schema);
}

/** Reads and checks a configuration file. */
export async function loadConfig<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
  options: ConfigOptions = {},
): Promise<z.output<Schema>> {
  return (await ConfigSource.read(file, options)).check(schema);
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

function startsWith(path: SettingPath, start: SettingPath): boolean {
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
