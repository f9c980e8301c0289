/** Documents tell the truth: their links lead somewhere, and the code in README runs as it stands there. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { COMMANDS } from '../src/cli/commands.ts';
import { runCli } from '../src/cli/program.ts';
import { parseConfig } from '../src/config/index.ts';
import { loadModel } from '../src/model/index.ts';
import { sweepSchema } from '../src/sweep/index.ts';
import { asksForStates, statesConfigSchema, trainConfigSchema, trainingSettings } from '../src/train/index.ts';
import { fakeHost } from './cli/fake-host.ts';
import { golden } from './golden/shipped/fixtures.ts';

const ROOT = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

const FILES = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

const readText = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const readme = readText('README.md');
const training = readText('docs/TRAINING.md');

/** The YAML blocks of a document, as they stand there. */
function yamlBlocks(text: string): string[] {
  return Array.from(text.matchAll(/```yaml\n([\s\S]*?)```/g), ([, block]) => block);
}

/** Reads a configuration as its command would: of a sweep, of mean states, or of any other training. */
function readAsCommand(text: string) {
  const value: unknown = parse(text);
  if (typeof value === 'object' && value !== null && 'base' in value) return parseConfig(text, sweepSchema);
  return asksForStates(value) ? parseConfig(text, statesConfigSchema) : parseConfig(text, trainConfigSchema);
}

/**
 * The YAML blocks of a document as whole configurations. One that names neither a model nor a base changes sections of
 * another: of the one above it under the same heading, or else of the first of the document.
 */
function wholeConfigs(text: string): string[] {
  const first = parse(yamlBlocks(text)[0]);
  return text.split(/^## /m).flatMap((section) => {
    let whole = first;
    return yamlBlocks(section).map((block) => {
      const value = parse(block);
      if (!('model' in value || 'base' in value)) return stringify({ ...whole, ...value });
      whole = value;
      return block;
    });
  });
}

/** Targets of Markdown links that are files of the repository. */
function localLinks(file: string): string[] {
  const text = readText(file);
  const targets = Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), (match) => match[1]);
  return targets.filter((target) => !/^[a-z]+:/.test(target)).map((target) => target.split('#')[0]);
}

/** A block of README that imports the build instead of the package. */
function fromDist(block: string): string {
  return block.replace(/'lzero(\/\w+)?'/g, (_, subpath = '') => JSON.stringify(join(ROOT, `dist${subpath}/index.js`)));
}

async function helpOf(...words: readonly string[]): Promise<string> {
  const { host, stdout } = fakeHost();
  await runCli([...words, '--help'], COMMANDS, host);
  return stdout();
}

/** What is wrong with a command line: a command or an option that there is not. */
async function mistakesIn(line: string): Promise<string[]> {
  const [command, sub = ''] = line.split(/\s+/).slice(1);
  const own = await helpOf(command);
  const words = own.startsWith(`Usage: lzero ${command} [options] [command]`) ? [command, sub] : [command];
  const help = await helpOf(...words);
  if (!help.startsWith(`Usage: lzero ${words.join(' ')} `)) return [`${line}: there is no ${words.join(' ')}`];
  const options = Array.from(line.matchAll(/(?<=\s)--?[a-z][a-z\d-]*/g), ([option]) => option);
  return options
    .filter((option) => !new RegExp(`^ {2}(-\\w, )?${option}(,| |$)`, 'm').test(help))
    .map((option) => `${line}: there is no ${option}`);
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
    for (const line of trainingSettings().split('\n')) expect(training).toContain(line);
  });

  it.each([
    ['README.md', 1],
    ['docs/TRAINING.md', 6],
  ])('%s: every YAML block is a configuration, or part of one', (file, count) => {
    const configs = wholeConfigs(readText(file));
    expect(configs).toHaveLength(count);
    for (const config of configs) expect(() => readAsCommand(config), config).not.toThrow();
  });

  it.each(['adapt', 'model', 'heal', 'learn-scifact', 'objectives', 'collapse'])(
    'configs/%s.yaml is one, too',
    (name) => {
      expect(() => readAsCommand(readText(`configs/${name}.yaml`))).not.toThrow();
    },
  );

  it('docs/TRAINING.md adapts as configs/adapt.yaml does, with one name for the teacher', () => {
    const [section] = /## Adapt the embedded model[\s\S]*?\n(?=## )/.exec(training) ?? [''];
    const [guide] = yamlBlocks(section);
    const { output: _output, ...config } = parse(readText('configs/adapt.yaml'));
    expect(parse(guide)).toEqual(config);
    const [teacher] = config.teachers.models;
    const [, ...mined] = section.split('--teacher ').map((rest) => rest.split(' ')[0]);
    expect(mined).toEqual([teacher]);
  });

  it('README shows what the embedded model gives: its NDCG@10, and the weights of a query', async () => {
    expect(readme).toMatch(new RegExp(`^ +default +${golden('default').ndcg10.toFixed(4)} `, 'm'));
    const model = await loadModel();
    const { terms, weights } = model.encodeQuery('keep the header on top').vector;
    for (const [i, term] of terms.entries())
      expect(readme).toContain(`${weights[i].toFixed(4)} ${model.tokenizer.vocabulary.tokens[term]}`);
    await model.close();
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

  it.each([
    ['README.md', 20],
    ['docs/MODELS.md', 6],
    ['docs/OPENSEARCH.md', 12],
    ['docs/TRAINING.md', 20],
    ['models/lzero-en/README.md', 4],
  ])('%s: the commands that it shows exist, with the options shown', async (file, atLeast) => {
    // On a line of their own, or in a sentence between backticks.
    const lines = readText(file).match(/(?<=^ {4})(node dist\/cli\/main\.js|lzero) .*$|(?<=`)lzero [^`]+(?=`)/gm) ?? [];
    expect(lines.length).toBeGreaterThanOrEqual(atLeast);
    const commands = lines.map((line) => line.replace('node dist/cli/main.js', 'lzero'));
    for (const command of commands) expect(await mistakesIn(command)).toEqual([]);
  });

  it('a command line with a command or an option that there is not is a mistake', async () => {
    expect(await mistakesIn('lzero train train.yaml --view   the page beside the run')).toEqual([]);
    expect(await mistakesIn('lzero tran train.yaml')).toEqual(['lzero tran train.yaml: there is no tran']);
    expect(await mistakesIn('lzero model quantise MODEL')).toEqual([expect.stringContaining('no model quantise')]);
    expect(await mistakesIn('lzero mine . -o x --agree 3 -k')).toEqual([
      expect.stringMatching(/there is no --agree$/), // though there is --agreement
      expect.stringMatching(/there is no -k$/),
    ]);
  });
});
