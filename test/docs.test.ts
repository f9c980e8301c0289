/** Documents tell the truth: their links lead somewhere, and the code in README runs as it stands there. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

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

describe('documents', () => {
  it.each(FILES)('%s: every link to a file leads to one', (file) => {
    const broken = localLinks(file).filter((target) => !existsSync(resolve(ROOT, dirname(file), target)));
    expect(broken.map((target) => `${file} -> ${relative(ROOT, resolve(ROOT, dirname(file), target))}`)).toEqual([]);
  });

  it('README has fewer than 250 lines', () => {
    expect(readme.split('\n').length).toBeLessThan(250);
  });

  it("README's library example runs", async () => {
    const [, block] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
    const source = block.replace("'lzero'", JSON.stringify(join(ROOT, 'dist/index.js')));
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', source]);
    expect(stdout).toContain("token: 'header'");
    expect(stdout).toMatch(/^a \d+$/m);
  });

  it("README's commands exist with the options it names", async () => {
    const lines = readme.match(/^ {4}node dist\/cli\/main\.js .*$/gm) ?? [];
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) {
      const [command, sub] = line.trim().split(' ').slice(2);
      const words = command === 'model' ? [command, sub] : [command];
      const { stdout } = await run(process.execPath, [join(ROOT, 'dist/cli/main.js'), ...words, '--help']);
      for (const [option] of line.matchAll(/--[a-z-]+/g)) expect(stdout, line).toContain(option);
    }
  });
});
