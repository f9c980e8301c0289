/** `lzero doctor`: what this machine has, and which commands lack something. */
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { cacheFolder } from '../download/index.ts';
import { ENGINE_INSTALL_COMMAND, ENGINES, type FoundEngine, findEngine } from '../graph/index.ts';
import type { CliContext } from './context.ts';
import { CommandFailed, EXIT } from './errors.ts';
import { formatBytes } from './format.ts';
import { isWritable, type Memory, memory, type Processor, processor } from './machine.ts';
import { withExamples } from './program.ts';

/** What the package needs, as in `engines` of package.json. */
const MIN_NODE = [20, 19] as const;

/** What was found. */
export type Machine = {
  readonly node: { readonly version: string; readonly ok: boolean };
  readonly platform: string;
  readonly cpu: Processor;
  readonly memory: Memory;
  readonly engine: {
    /** Engine packages that are installed, whether they load or not. */
    readonly installed: readonly string[];
    /** The one that would be used. */
    readonly used: FoundEngine | undefined;
  };
  readonly cache: { readonly folder: string; readonly writable: boolean };
  readonly embeddedModel: boolean;
};

/** One use of lzero, and what it lacks here. */
export type Use = { readonly use: string; readonly ready: boolean; readonly lacks?: string; readonly fix?: string };

/** The `doctor` command. */
export function doctorCommand(context: CliContext): Command {
  const command = new Command('doctor')
    .description('show what this machine has and which commands lack something')
    .action(async () => {
      const machine = await examine(context.env);
      const uses = examineUses(machine);
      if (context.options.json) await context.stdout.writeJson({ ok: isSound(machine), ...machine, uses });
      else await context.stdout.write(render(machine, uses));
      if (!isSound(machine)) throw new CommandFailed(EXIT.failed);
    });
  return withExamples(command, {
    'lzero doctor': 'a table for people',
    'lzero doctor --json': 'the same for programs, and for bug reports',
  });
}

/** Whether every required part works. The engine and the cache are needed by some commands only. */
export function isSound({ node, embeddedModel }: Machine): boolean {
  return node.ok && embeddedModel;
}

/** What each use needs, and whether it is here. */
export function examineUses({ engine, cache, embeddedModel }: Machine): Use[] {
  const need = (use: string, ready: boolean, missing: { lacks: string; fix: string }): Use =>
    ready ? { use, ready } : { use, ready, ...missing };
  const model = { lacks: 'the embedded model', fix: 'npm install lzero --force' };
  const broken = engine.installed.length > 0 ? ` (${engine.installed.join(', ')} installed, but does not load)` : '';
  return [
    need('search, and weigh queries with the embedded model', embeddedModel, model),
    need('encode with a neural model', engine.used !== undefined, {
      lacks: `the engine${broken}`,
      fix: ENGINE_INSTALL_COMMAND,
    }),
    need('keep downloaded models', cache.writable, {
      lacks: 'a cache folder that can be written',
      fix: 'set LZERO_CACHE to a folder of yours',
    }),
  ];
}

async function examine(env: CliContext['env']): Promise<Machine> {
  const folder = resolve(cacheFolder(env, homedir()));
  return {
    node: { version: process.versions.node, ok: isNewEnough(process.versions.node) },
    platform: `${process.platform} ${process.arch}`,
    cpu: await processor(),
    memory: memory(),
    engine: { installed: ENGINES.filter(isInstalled), used: await findEngine() },
    cache: { folder, writable: await isWritable(folder) },
    embeddedModel: hasEmbeddedModel(),
  };
}

/** Whether a version of Node, "20.19.1", is one that lzero runs on. */
export function isNewEnough(version: string): boolean {
  const [major, minor] = version.split('.').map(Number);
  return major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]);
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** The package's models/ lies two folders up from src/cli and from dist/cli alike. */
function hasEmbeddedModel(): boolean {
  const models = fileURLToPath(new URL('../../models', import.meta.url));
  return (
    existsSync(models) && readdirSync(models, { recursive: true }).some((file) => /\blzero\.json$/.test(String(file)))
  );
}

function describeEngine({ name, version, problem }: FoundEngine): string {
  return `${name} ${version}${problem === undefined ? '' : `, slower: ${problem}`}`;
}

/** The report as text. */
export function render(machine: Machine, uses: readonly Use[]): string {
  const { node, platform, cpu, engine, cache } = machine;
  const used = engine.used && describeEngine(engine.used);
  const facts = {
    node: `${node.version}${node.ok ? '' : `, too old: ${MIN_NODE.join('.')} or newer is needed`}`,
    platform,
    cpu: `${cpu.model}, ${cpu.numCores} ${cpu.numCores === 1 ? 'core' : 'cores'}`,
    'cpu flags': cpu.flags === undefined ? 'unknown' : cpu.flags.join(' ') || 'none that matter',
    memory: `${formatBytes(machine.memory.totalBytes)}, ${formatBytes(machine.memory.availableBytes)} available`,
    engine: used ?? (engine.installed.length > 0 ? `${engine.installed.join(', ')} does not load` : 'not installed'),
    cache: `${cache.folder}${cache.writable ? '' : ', cannot be written'}`,
    'embedded model': machine.embeddedModel ? 'present' : 'missing',
  };
  const factLines = Object.entries(facts).map(([name, fact]) => `${name.padEnd(16)}${fact}\n`);
  const useLines = uses.map(({ use, ready, lacks, fix }) =>
    ready ? `  ready    ${use}\n` : `  missing  ${use}: needs ${lacks}; fix: ${fix}\n`,
  );
  return `${factLines.join('')}\nWhat works:\n${useLines.join('')}`;
}
