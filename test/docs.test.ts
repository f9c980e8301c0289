/** Documents tell the truth: their links lead somewhere, and the code in README runs as it stands there. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../src/config/index.ts';
import { statesConfigSchema, trainConfigSchema, trainingSettings } from '../src/train/index.ts';

const ROOT = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

const FILES = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** Targets of Markdown links that are files of the repository. */
function localLinks(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const targets = Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), (match) => match[1]);
  return targets.filter((target) => !/^[a-z]+:/.test(target)).map((target) => target.split('#')[0]);
}

/** A block of README that imports the build instead of the package. */
function fromDist(block: string): string {
  return block.replace(/'lzero(\/\w+)?'/g, (_, subpath = '') => JSON.stringify(join(ROOT, `dist${subpath}/index.js`)));
}

async function helpOf(words: readonly string[]): Promise<string> {
  return (await run(process.execPath, [join(ROOT, 'dist/cli/main.js'), ...words, '--help'])).stdout;
}

describe('documents', () => {
  it.each(FILES)('%s: every link to a file leads to one', (file) => {
    const broken = localLinks(file).filter((target) => !existsSync(resolve(ROOT, dirname(file), target)));
    expect(broken.map((target) => `${file} -> ${relative(ROOT, resolve(ROOT, dirname(file), target))}`)).toEqual([]);
  });

  it('README has fewer than 250 lines', () => {
    expect(readme.split('\n').length).toBeLessThan(250);
  });

  it('docs/TRAINING.md has every setting as the schema has it (scripts/training-settings.ts)', () => {
    const text = readFileSync(join(ROOT, 'docs/TRAINING.md'), 'utf8');
    for (const line of trainingSettings().split('\n')) expect(text).toContain(line);
    const [, example] = /```yaml\n([\s\S]*?)```/.exec(text) ?? [];
    expect(parseConfig(example, trainConfigSchema)).toMatchObject({ sparsity: { lambda: 0.04, threshold: 200 } });
    const [, states] = /## Mean states[\s\S]*?```yaml\n([\s\S]*?)```/.exec(text) ?? [];
    expect(parseConfig(states, statesConfigSchema)).toMatchObject({ rank: { loss: 'states' } });
  });

  it("README's library examples run, one after the other in an empty folder", async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'lzero-readme-'));
    try {
      const outputs: string[] = [];
      for (const [, block] of readme.matchAll(/```ts\n([\s\S]*?)```/g))
        outputs.push((await run(process.execPath, ['--input-type=module', '--eval', fromDist(block)], { cwd })).stdout);
      const [library, filters, hybrid] = outputs;
      expect(outputs).toHaveLength(3);
      expect(library).toMatch(/^a \d+\.\d\d \[/m); // found, with its score and its products
      expect(library).toContain("token: 'header'");
      expect(filters).toBe("[ 'chain' ]\n");
      expect(hybrid).toBe('b\n');
    } finally {
      await rm(cwd, { recursive: true });
    }
  }, 120_000);

  it('the commands that README and docs/MODELS.md show exist, with the options shown', async () => {
    const text = readme + readFileSync(join(ROOT, 'docs/MODELS.md'), 'utf8');
    const lines = text.match(/^ {4}node dist\/cli\/main\.js .*$/gm) ?? [];
    expect(lines.length).toBeGreaterThan(3);
    const helps = new Map<string, string>(); // a process per command, not per line
    for (const line of lines) {
      const [command, sub] = line.trim().split(' ').slice(2);
      const words = command === 'model' || command === 'opensearch' ? [command, sub] : [command];
      const help = helps.get(words.join(' ')) ?? (await helpOf(words));
      helps.set(words.join(' '), help);
      for (const [option] of line.matchAll(/--[a-z\d-]+/g)) expect(help, line).toContain(option);
    }
  }, 60_000);
});
