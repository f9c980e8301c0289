/**
 * The package as a user gets it: packed by npm, put into an empty project outside the repository, and run from there.
 * Nothing here imports the sources.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const REPOSITORY = resolve(import.meta.dirname, '../..');

/** How a process ended. */
export type Outcome = { readonly exitCode: number; readonly stdout: string; readonly stderr: string };

/** The fields of package.json that the tests look at. */
export type Manifest = {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
};

/** A project with lzero in its node_modules. */
export type Project = {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Runs the installed command. */
  lzero(...args: string[]): Promise<Outcome>;
  /** Runs it with a stdout whose reader has left, as in `lzero … | true`. */
  lzeroUnread(...args: string[]): Promise<Outcome>;
  /** Runs a module that may import lzero. */
  script(source: string): Promise<Outcome>;
  /** Runs npm in the project. */
  npm(...args: string[]): Promise<Outcome>;
};

/** An empty folder outside the repository. Its real path: a symlink on the way would change what is resolved. */
export async function emptyFolder(): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), 'lzero-package-')));
}

/** Packs the repository, as `npm test` has built it, into `folder`; returns the tarball. */
export async function pack(folder: string): Promise<string> {
  const packed = await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], REPOSITORY);
  if (packed.exitCode !== 0) throw new Error(`npm pack failed:\n${packed.stdout}${packed.stderr}`);
  const { version } = await readManifest(REPOSITORY);
  return join(folder, `lzero-${version}.tgz`);
}

/** Lets npm install the tarball, from its cache where it can. */
export async function installByNpm(tarball: string, ...options: string[]): Promise<Project> {
  const folder = await emptyProject();
  const installed = await npmIn(folder, 'install', tarball, ...options);
  if (installed.exitCode !== 0) throw new Error(`npm install failed:\n${installed.stderr}`);
  return openProject(folder);
}

/**
 * Unpacks the tarball and links its required dependencies and `extra` ones from the repository, so that no network is
 * needed. Engines that are not linked cannot be reached: the package's own files are copies, and a module is looked up
 * from where it really lies.
 */
export async function installByHand(tarball: string, extra: readonly string[] = []): Promise<Project> {
  const folder = await emptyProject();
  const home = join(folder, 'node_modules', 'lzero');
  await mkdir(home, { recursive: true });
  const unpacked = await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', home], folder);
  if (unpacked.exitCode !== 0) throw new Error(`tar failed:\n${unpacked.stderr}`);
  const project = await openProject(folder);
  const names = [...Object.keys(project.manifest.dependencies), ...extra];
  for (const name of names) await linkDependency(folder, name);
  return project;
}

async function linkDependency(folder: string, name: string): Promise<void> {
  const link = join(folder, 'node_modules', name);
  await mkdir(dirname(link), { recursive: true });
  await symlink(join(REPOSITORY, 'node_modules', name), link, 'junction');
}

async function emptyProject(): Promise<string> {
  const folder = await emptyFolder();
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }));
  return folder;
}

async function openProject(folder: string): Promise<Project> {
  const home = join(folder, 'node_modules', 'lzero');
  const main = join(home, 'dist', 'cli', 'main.js');
  return {
    folder,
    manifest: await readManifest(home),
    lzero: (...args) => run(process.execPath, [main, ...args], folder),
    lzeroUnread: (...args) => runUnread([main, ...args], folder),
    script: (source) => run(process.execPath, ['--input-type=module', '--eval', source], folder),
    npm: (...args) => npmIn(folder, ...args),
  };
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
}

function npmIn(folder: string, ...args: string[]): Promise<Outcome> {
  return run('npm', [...args, '--prefer-offline', '--no-audit', '--no-fund'], folder);
}

function run(command: string, args: readonly string[], cwd: string): Promise<Outcome> {
  const options = { cwd, env: cleanEnvironment(), maxBuffer: 64_000_000, shell: process.platform === 'win32' };
  return new Promise((settle) => {
    execFile(command, args, options, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      settle({ exitCode, stdout, stderr });
    });
  });
}

async function runUnread(args: readonly string[], cwd: string): Promise<Outcome> {
  const child = spawn(process.execPath, args, { cwd, env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const stderr: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
  const [exitCode]: number[] = await once(child, 'close');
  return { exitCode, stdout: '', stderr: stderr.join('') };
}

/** Without what `npm test` tells its children about the repository: a user's shell says none of it. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const fromOuterNpm =
    /^npm_(?!config_(?:cache|registry|userconfig)$)|^ONNXRUNTIME_NODE_INSTALL|^NODE_OPTIONS$|^INIT_CWD$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !fromOuterNpm.test(name)));
}
