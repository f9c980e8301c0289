/** Holds the import directions of docs/ARCHITECTURE.md: who may know whom, and which folders stay free of Node. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = resolve(import.meta.dirname, '../src');

/** Folder → folders it may import. A folder always may import itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  files: ['core'],
  config: ['core'],
  text: ['core'],
  graph: ['core'],
  download: ['core', 'files'],
  model: ['core', 'files', 'download', 'text', 'graph'],
  data: ['core', 'files', 'download', 'text'],
  kernels: ['core'],
  losses: ['core'],
  search: ['core', 'text', 'kernels'],
  store: ['core', 'files', 'search'],
  engines: ['core', 'files', 'text', 'model', 'search', 'store'],
  opensearch: ['core', 'text', 'model', 'search', 'engines'],
  eval: ['core', 'files', 'data', 'engines'],
  teach: ['core', 'files', 'text', 'data', 'model'],
  train: [
    'core',
    'files',
    'config',
    'text',
    'graph',
    'model',
    'data',
    'kernels',
    'losses',
    'search',
    'store',
    'engines',
    'eval',
    'teach',
  ],
  sweep: ['core', 'files', 'config', 'model', 'train'],
  figures: ['core', 'files'],
  view: ['core', 'files'],
  reproduce: ['core', 'files', 'config', 'text', 'model', 'data', 'engines', 'eval', 'train', 'sweep', 'figures'],
  server: ['core', 'files', 'search', 'engines'],
  browser: ['core', 'text', 'search'],
  site: ['core', 'files', 'config', 'text', 'data', 'search', 'engines', 'teach', 'browser'],
  cli: [
    'core',
    'files',
    'config',
    'text',
    'graph',
    'download',
    'model',
    'data',
    'kernels',
    'losses',
    'search',
    'store',
    'engines',
    'opensearch',
    'eval',
    'teach',
    'train',
    'sweep',
    'figures',
    'view',
    'reproduce',
    'server',
    'browser',
    'site',
  ],
};

/** Folders that run in a browser as they are. */
const BROWSER_SAFE = ['core', 'text', 'kernels', 'search', 'browser'];

/** Folders that may look at the clock: what people and logs see has a time. */
const CLOCKS = ['cli', 'server'];

type Import = { readonly from: string; readonly to: string };

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const specifiers = text.matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|\bimport\s+)['"]([^'"]+)['"]/g);
  return Array.from(specifiers, (match) => ({ from: file, to: match[1] }));
}

const imports = sourceFiles(SRC).flatMap(importsOf);
const local = imports.filter(({ to }) => to.startsWith('.'));
const folderOf = (file: string): string => relative(SRC, file).split(sep)[0];
const show = ({ from, to }: Import): string => `${relative(SRC, from)} -> ${to}`;

describe('architecture', () => {
  it('every folder of src stands in the table', () => {
    const folders = readdirSync(SRC, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map((entry) => entry.name).sort()).toEqual(Object.keys(MAY_IMPORT).sort());
  });

  it('imports follow the allowed directions', () => {
    const forbidden = local.filter(({ from, to }) => {
      const source = folderOf(from);
      const target = folderOf(resolve(dirname(from), to));
      if (source === 'index.ts' || source === target) return false;
      return !(MAY_IMPORT[source] ?? []).includes(target);
    });
    expect(forbidden.map(show)).toEqual([]);
  });

  it('one folder reaches another only through its index', () => {
    const deep = local.filter(({ from, to }) => {
      const target = relative(SRC, resolve(dirname(from), to));
      return folderOf(from) !== target.split(sep)[0] && !target.endsWith(`${sep}index.ts`) && target !== 'index.ts';
    });
    expect(deep.map(show)).toEqual([]);
  });

  it('browser-safe folders import nothing of Node', () => {
    const node = imports.filter(({ from, to }) => BROWSER_SAFE.includes(folderOf(from)) && to.startsWith('node:'));
    expect(node.map(show)).toEqual([]);
  });

  it('local imports name the file that exists, with its extension', () => {
    expect(local.filter(({ to }) => !to.endsWith('.ts')).map(show)).toEqual([]);
  });

  it('an index lists its public names one by one', () => {
    const stars = sourceFiles(SRC).filter((file) => /export \* from/.test(readFileSync(file, 'utf8')));
    expect(stars.map((file) => relative(SRC, file))).toEqual([]);
  });

  it('chance and the clock stay outside the library', () => {
    const users = sourceFiles(SRC).filter(
      (file) =>
        !CLOCKS.includes(folderOf(file)) && /\b(?:Math\.random|Date\.now|new Date)\b/.test(readFileSync(file, 'utf8')),
    );
    expect(users.map((file) => relative(SRC, file))).toEqual([]);
  });
});
