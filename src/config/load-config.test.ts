import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ConfigError, forSetting, InputError, type SettingPath } from '../core/index.ts';
import { ConfigSource, loadConfig, parseConfig } from './load-config.ts';

const schema = z.strictObject({
  sparsity: z
    .strictObject({
      lambda: z.number().nonnegative().default(0.04),
      grouping: z.enum(['by-position', 'none']).default('none'),
      threshold: z.number().nullable().default(200),
    })
    .prefault({}),
  optim: z.strictObject({ steps: z.int(), warmup: z.int().default(0) }),
  data: z.array(z.strictObject({ file: z.string() })).default([]),
  idf: z
    .discriminatedUnion('source', [
      z.strictObject({ source: z.literal('file'), path: z.string() }),
      z.strictObject({ source: z.literal('none') }),
    ])
    .optional(),
});

/** The message of the ConfigError that the text must give. */
function complaint(text: string, ...set: string[]): string {
  try {
    parseConfig(text, schema, { name: 'train.yaml', set });
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

describe('a configuration', () => {
  it('is read from YAML, with the defaults of its schema', () => {
    expect(parseConfig('optim:\n  steps: 10 # few\n', schema)).toEqual({
      sparsity: { lambda: 0.04, grouping: 'none', threshold: 200 },
      optim: { steps: 10, warmup: 0 },
      data: [],
    });
  });

  it('is read from JSON, indented by tabs or not', () => {
    const value = { optim: { steps: 10, warmup: 2 }, data: [{ file: 'a' }] };
    for (const indent of [undefined, 2, '\t'])
      expect(parseConfig(JSON.stringify(value, null, indent), schema)).toMatchObject(value);
  });

  it('may be empty where nothing is required', () => {
    expect(parseConfig('# nothing yet\n', z.strictObject({ k: z.int().default(10) }))).toEqual({ k: 10 });
  });

  it('may repeat a value by alias', () => {
    expect(parseConfig('data: [&a { file: x }, *a]\noptim: { steps: 1 }', schema).data).toEqual([
      { file: 'x' },
      { file: 'x' },
    ]);
  });
});

describe('a problem names its line, its column and the way out', () => {
  it.each([
    [
      'optim: { steps: 1 }\nsparsity:\n  lamda: 1',
      'train.yaml:3:3: unknown key `lamda` in `sparsity`; did you mean `lambda`?',
    ],
    ['optim: { steps: 1 }\nzebra: 1', 'train.yaml:2:1: unknown key `zebra`; known: sparsity, optim, data, idf'],
    ['optim:\n  steps: many', 'train.yaml:2:10: `optim.steps`: expected number, received string, got "many"'],
    ['optim:\n  warmup: 3', 'train.yaml:1:1: `optim.steps` is missing: expected number'],
    ['sparsity: {}', 'train.yaml: `optim` is missing: expected object'],
    [
      'optim: { steps: 1 }\nsparsity: { grouping: by-positon }',
      'train.yaml:2:23: `sparsity.grouping`: expected one of "by-position"|"none", got "by-positon"; did you mean `by-position`?',
    ],
    ['optim: { steps: 1 }\nsparsity: { lambda: -1 }', 'train.yaml:2:21: `sparsity.lambda`: expected number to be >=0'],
    [
      'optim: { steps: 1 }\ndata:\n- file: a\n- fil: b',
      'train.yaml:4:3: unknown key `fil` in `data.1`; did you mean `file`?',
    ],
    [
      'optim: { steps: 1 }\nidf: { source: file, pth: x }',
      'train.yaml:2:22: unknown key `pth` in `idf`; did you mean `path`?',
    ],
    ['- 1', 'train.yaml:1:1: the configuration: expected object, received array'],
  ])('%j', (text, message) => {
    expect(complaint(text)).toContain(message);
  });

  it('and all of them are listed at once', () => {
    expect(complaint('optim: { steps: x, warmap: 1 }\nsparsity: { lambda: y }').split('\n')).toEqual([
      'train.yaml has 3 problems',
      '  train.yaml:2:21: `sparsity.lambda`: expected number, received string, got "y"',
      '  train.yaml:1:17: `optim.steps`: expected number, received string, got "x"',
      '  train.yaml:1:20: unknown key `warmap` in `optim`; did you mean `warmup`?',
    ]);
  });

  it('but no more than twenty in full', () => {
    const keys = Array.from({ length: 50 }, (_, i) => `key${i}: 1\n`).join('');
    expect(complaint(`optim: { steps: 1 }\n${keys}`)).toMatch(/has 50 problems\n(?:.*\n){20} {2}and 30 more$/);
  });
});

describe('what goes wrong about a setting later on', () => {
  const text = 'optim: { steps: 1 }\ndata:\n  - { file: a }\n  - { file: b }\n';
  const source = new ConfigSource(text, { name: 'train.yaml', set: ['data.0.file=c'] });
  const located = (path: SettingPath): Promise<unknown> =>
    forSetting(path, () => {
      throw new InputError('does not exist', { hint: 'look again' });
    }).catch((error: unknown) => source.locate(error));

  it.each([
    [['data', 1, 'file'], 'train.yaml:4:13: `data.1.file`: does not exist'],
    [['data', 0, 'file'], '--set data.0.file=c: `data.0.file`: does not exist'],
    [['optim', 'warmup'], 'train.yaml:1:1: `optim.warmup`: does not exist'], // a default: the section is named
    [['idf', 'path'], 'train.yaml: `idf.path`: does not exist'],
  ])('%j: is the same error with its place', async (path, message) => {
    expect(await located(path)).toBeInstanceOf(InputError);
    expect(await located(path)).toMatchObject({ message, hint: 'look again' });
  });

  it('any other error is left as it is', () => {
    const error = new InputError('does not exist');
    expect(source.locate(error)).toBe(error);
  });
});

describe('text that is not a configuration', () => {
  it.each([
    ['duplicate keys', 'optim: { steps: 1 }\noptim: { steps: 2 }', 'train.yaml:2:1: this key is already there'],
    ['tabs as indentation', 'optim:\n\tsteps: 1', 'train.yaml:2:1: tabs are not allowed as indentation'],
    ['not a number', 'optim: { steps: .nan }', 'train.yaml:1:17: .nan is not a finite number'],
    ['infinity', 'optim: { steps: 1e999 }', 'train.yaml:1:17: 1e999 is not a finite number'],
    ['inexact integers', 'optim: { steps: 9007199254740993 }', '9007199254740993 is too large to be held exactly'],
    ['a second document', 'optim: { steps: 1 }\n---\na: 1', 'a second document begins here'],
    ['an unknown tag', 'optim: !python/object { steps: 1 }', 'train.yaml:1:8: unresolved tag: !python/object'],
    ['an alias of nothing', 'optim: *none', 'train.yaml:1:8: alias `none` has no anchor before it'],
    ['a value inside itself', 'data: &a [*a]', 'train.yaml:1:11: alias `a` lies inside its own anchor'],
    ['100,000 open brackets', '['.repeat(100_000), 'train.yaml: nested more than 64 levels deep'],
    ['100,000 nested lists', '- '.repeat(100_000), 'train.yaml: nested more than 64 levels deep'],
    ['more than a megabyte', `# ${'x'.repeat(1_000_000)}`, 'train.yaml is larger than 1 MB'],
  ])('%s: refused', (_, text, message) => {
    expect(complaint(text)).toContain(message);
  });

  it('an alias bomb is refused', () => {
    const levels = Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`);
    expect(complaint(`a0: &a0 [x]\n${levels.join('\n')}`)).toContain('aliases expand to more than 100 values');
  });
});

describe('--set', () => {
  const text = 'optim: { steps: 1 }\ndata: [{ file: a }]\nsparsity:\n';

  it('replaces, adds, and reaches into lists, in order', () => {
    const set = ['optim.steps=5', 'optim.steps=7', 'data.1={ file: b }', 'data.0.file=c', 'sparsity.threshold='];
    expect(parseConfig(text, schema, { set })).toMatchObject({
      optim: { steps: 7 },
      data: [{ file: 'c' }, { file: 'b' }],
      sparsity: { threshold: null, lambda: 0.04 },
    });
  });

  it('keeps the values that share an alias apart', () => {
    const aliased = 'optim: { steps: 1 }\ndata: [&a { file: x }, *a]';
    expect(parseConfig(aliased, schema, { set: ['data.0.file=y'] }).data).toEqual([{ file: 'y' }, { file: 'x' }]);
  });

  it.each([
    ['sparsity.lamda=1', '--set sparsity.lamda=1: unknown key `lamda` in `sparsity`; did you mean `lambda`?'],
    ['optm.steps=1', '--set optm.steps=1: unknown key `optm`; did you mean `optim`?'],
    ['optim.steps=many', '--set optim.steps=many: `optim.steps`: expected number, received string, got "many"'],
    ['optim.steps=.inf', '--set optim.steps=.inf: .inf is not a finite number'],
    ['optim.steps.x=1', '--set optim.steps.x=1: `optim.steps` is a value, not a section'],
    ['data.5.file=x', '--set data.5.file=x: `data` is a list of 1, and has no place `5`'],
    ['data.1.fil=x', '--set data.1.fil=x: '],
    ['optim.steps', '--set optim.steps: expected key.key=value'],
    ['=1', '--set =1: expected key.key=value'],
    ['a..b=1', '--set a..b=1: expected key.key=value'],
    ['optim=[1', '--set optim=[1: '],
    ['__proto__.steps=1', '--set __proto__.steps=1: unknown key `__proto__`'],
  ])('%s is refused', (set, message) => {
    expect(complaint('optim: { steps: 1 }\ndata: [{ file: a }]\nsparsity: {}', set)).toContain(message);
  });
});

describe('whatever the text, the outcome is a value or a ConfigError', () => {
  const loose = z.record(z.string(), z.unknown());
  const outcome = (text: string, set: string[]): void => {
    for (const target of [schema, loose]) {
      try {
        parseConfig(text, target, { set });
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
      }
    }
  };
  const yamlish = fc.string({
    unit: fc.constantFrom(
      'a',
      ': ',
      '- ',
      '\n',
      '  ',
      '\t',
      '[',
      ']',
      '{',
      '}',
      ',',
      '&a ',
      '*a',
      '? ',
      '|',
      '>',
      '"',
      "'",
      '!',
      '%',
      '---\n',
      '#',
      '<<',
      '.inf',
      '1',
      '\u0000',
      '\ud800',
      '\ufeff',
    ),
    maxLength: 60,
  });

  test.prop([fc.string({ unit: 'binary' })])('of arbitrary characters', (text) => outcome(text, []));
  test.prop([yamlish], { numRuns: 500 })('of pieces of YAML', (text) => outcome(text, []));
  test.prop([yamlish, yamlish])('of overrides', (path, value) =>
    outcome('optim: { steps: 1 }', [path, `${path}=${value}`]),
  );
  test.prop([fc.json()])('of JSON', (text) => outcome(text, []));

  test.prop([fc.dictionary(fc.string(), fc.jsonValue())])('and JSON comes back as it was', (value) => {
    fc.pre(!JSON.stringify(value).includes('__proto__'));
    const text = JSON.stringify(value);
    fc.pre(!/\d{16}/.test(text) && !/"[^"]{900,}"/.test(text));
    expect(parseConfig(text, loose)).toEqual(JSON.parse(text));
  });
});

describe('a file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lzero-config-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const write = async (content: string | Uint8Array): Promise<string> => {
    const file = join(folder, 'config.yaml');
    await writeFile(file, content);
    return file;
  };

  it('is read and checked, and named in problems', async () => {
    expect(await loadConfig(await write('optim: { steps: 3 }'), schema, { set: ['optim.warmup=1'] })).toMatchObject({
      optim: { steps: 3, warmup: 1 },
    });
    await expect(loadConfig(await write('optim: 3'), schema)).rejects.toThrow(join(folder, 'config.yaml:1:8'));
  });

  it('that is absent, a folder, too large or not UTF-8 is refused', async () => {
    await expect(loadConfig(join(folder, 'absent.yaml'), schema)).rejects.toThrow(/cannot be read: ENOENT/);
    await expect(loadConfig(folder, schema)).rejects.toThrow(/cannot be read: EISDIR/);
    await expect(loadConfig(await write('#'.repeat(1_000_001)), schema)).rejects.toThrow(/larger than 1 MB/);
    await expect(loadConfig(await write(Uint8Array.of(0xff, 0xfe, 0xfd)), schema)).rejects.toThrow(/not UTF-8/);
  });
});
