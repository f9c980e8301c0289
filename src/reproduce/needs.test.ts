import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messageOf, silentProgress } from '../core/index.ts';
import { findNeeds, MissingInputsError, type ProvideOptions, provideNeeds } from './needs.ts';
import { readScale, scaleFolder } from './scale.ts';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'lzero-needs-'));
});
afterAll(() => rmSync(root, { recursive: true }));

function optionsFor(name: string, isOffline = true): ProvideOptions {
  const folder = join(root, name);
  return {
    folder,
    data: join(folder, 'data'),
    cache: join(root, 'cache'),
    hub: { endpoint: 'http://127.0.0.1:9', token: undefined, isOffline },
    progress: () => silentProgress,
  };
}

describe('what a scale needs', () => {
  it('is listed as a whole where it is missing: what, how large, how to have it', async () => {
    const { config } = await readScale(scaleFolder('paper'));
    const error = await provideNeeds(config, optionsFor('paper')).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(MissingInputsError);
    expect(error).toMatchObject({ code: 'MISSING_INPUTS' });
    const message = messageOf(error);
    for (const part of [
      '17 of the inputs are missing',
      'Luyu/co-condenser-marco: the checkpoint that every row begins with, about 440 MB; fetched as by: lzero model pull Luyu/co-condenser-marco',
      'msmarco: passages and queries that training reads, about 1.1 GB',
      'beir/quora: a column of Table 1, about 16 MB',
      'idf.json: IDF of MS MARCO; counted here, as by: lzero model idf of msmarco',
      `.to_json('${join(root, 'paper')}/data/msmarco-hard-negatives.jsonl')`,
    ])
      expect(message).toContain(part);
    expect(existsSync(join(root, 'paper'))).toBe(false); // nothing was begun
  });

  it('of files that somebody has to make is asked for before anything is fetched', async () => {
    const { config } = await readScale(scaleFolder('paper'));
    const asked = provideNeeds(config, { ...optionsFor('paper', false), onInput: () => expect.fail('fetched') });
    await expect(asked).rejects.toThrow(MissingInputsError);
  });

  it('is found where it is, and named by the words of the configurations', async () => {
    const { config } = await readScale(scaleFolder('small'));
    const options = optionsFor('small');
    for (const need of config.needs)
      if ('path' in need) {
        const path = join(options.data, need.path);
        mkdirSync(need.path.endsWith('.jsonl') ? options.data : path, { recursive: true });
        if (need.path.endsWith('.jsonl')) writeFileSync(path, '{"query":"a"}\n');
      }
    expect((await findNeeds(config, options)).every(({ path }) => path !== undefined)).toBe(true);
    const paths = await provideNeeds(config, options);
    expect(paths.get('boolq')).toBe(join(options.data, 'boolq'));
    rmSync(join(options.data, 'scifact'), { recursive: true });
    await expect(provideNeeds(config, options)).rejects.toThrow(
      /1 of the inputs are missing\n {2}scifact: .*runs\/reproduce\/prepare\.ts/,
    );
  });

  it('is refused where a file of lines ends in the middle of one', async () => {
    const needs = [{ kind: 'file', path: 'cut.jsonl', sizeBytes: 1, about: 'lists', made: 'somebody' }] as const;
    const options = optionsFor('cut');
    mkdirSync(options.data, { recursive: true });
    const found = (text: string) => {
      writeFileSync(join(options.data, 'cut.jsonl'), text);
      return findNeeds({ needs: [...needs] }, options);
    };
    await expect(found('{"query":"a"}\n{"query":"b"}\n')).resolves.toHaveLength(1);
    await expect(found('{"query":"a"}\n{"query":"b"}')).resolves.toHaveLength(1); // only the newline is missing
    await expect(found('{"query":"a"}\n{"que')).rejects.toThrow(/cut\.jsonl ends in the middle of a line/);
  });

  it('of IDF is counted from a collection that was fetched for it: in one of two texts, ln(1 + 1.5/1.5)', async () => {
    const options = optionsFor('idf');
    const collection = join(options.cache, 'collections/two');
    mkdirSync(collection, { recursive: true });
    writeFileSync(join(collection, 'corpus.jsonl'), '{"_id":"1","text":"bread"}\n{"_id":"2","text":"salt"}\n');
    await provideNeeds({ needs: [{ kind: 'idf', path: 'idf.json', of: 'two', about: 'weights' }] }, options);
    const { bread } = JSON.parse(readFileSync(join(options.data, 'idf.json'), 'utf8'));
    expect(bread).toBeCloseTo(Math.log(2), 5);
  });

  it('of the tiny scale that is no network is made of the package: lists and a collection', async () => {
    const { config } = await readScale(scaleFolder('tiny'));
    const options = optionsFor('tiny');
    mkdirSync(join(options.data, 'base'), { recursive: true }); // the network takes the engine: test/e2e
    const made: string[] = [];
    await provideNeeds(config, { ...options, onInput: (need) => made.push('path' in need ? need.path : need.name) });
    expect(made).toEqual(['train.jsonl', 'everyday']);
    const [line] = readFileSync(join(options.data, 'train.jsonl'), 'utf8').split('\n');
    expect(JSON.parse(line)).toMatchObject({
      query: 'Measuring chain wear',
      docs: { length: 4 },
      scores: [12, 6, 3, 0],
    });
    expect(existsSync(join(options.data, 'everyday/qrels/test.tsv'))).toBe(true);
    writeFileSync(join(options.data, 'train.jsonl'), 'mine');
    await provideNeeds(config, options);
    expect(readFileSync(join(options.data, 'train.jsonl'), 'utf8')).toBe('mine'); // what is there stays
  });
});
