import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeAll, golden, goldenFolder } from '../../../test/golden/model/fixtures.ts';
import {
  changeJson,
  changeModule,
  type Flavour,
  goldenTokens,
  queryWeight,
  transformerFolder,
  writeJson,
  writeQueryTensor,
  writeRouterFolder,
  writeSiameseFolder,
} from '../../../test/lib/sparse-encoder-folder.ts';
import { CheckpointError, ConfigError, IdfError } from '../../core/index.ts';
import { encodeQueries } from '../encode-queries.ts';
import { loadModel } from '../model.ts';
import { readModelFolder } from '../model-folder.ts';
import { readSourceModel } from './find-layout.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-st-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const FLAVOURS: readonly Flavour[] = ['5', '6', 'opensearch'];
const QUERY = 'query_0_SparseStaticEmbedding';
const POOLING = 'document_1_SpladePooling';

describe('a sentence-transformers router', () => {
  it.each(FLAVOURS)('as written by %s says activation, length and where the query weights are', async (flavour) => {
    await writeRouterFolder(folder, flavour);
    const model = await readSourceModel(folder);
    expect(model).toMatchObject({
      layout: 'sentence-transformers',
      encoderFolder: join(folder, transformerFolder(flavour)),
      settings: { kind: 'bert', activation: 'l0', encodeLength: 64, prune: { rule: 'none' }, idf: 'idf.json' },
      queryWeights: { kind: 'tensor', path: join(folder, QUERY, 'model.safetensors'), name: 'weight' },
    });
    expect([...model.fixed.keys()].sort()).toEqual(['activation', 'encodeLength', 'idf']);
    expect(model.settings).not.toHaveProperty('queries');
  });

  it('gives the vectors of its checkpoint, and query weights from its tensor', async () => {
    await writeRouterFolder(folder, '6');
    const bare = { idf: 'none', activation: 'l0', encodeLength: 64 } as const;
    const [router, checkpoint] = [await loadModel(folder), await loadModel(goldenFolder('tied'), bare)];
    const [a, b] = [await encodeAll(router, golden.texts), await encodeAll(checkpoint, golden.texts)];
    await router.close();
    await checkpoint.close();
    expect(a).toEqual(b);
    const { terms } = router.encodeQuery('the river');
    expect(terms.length).toBeGreaterThan(0);
    for (const { token, weight } of terms) expect(weight).toBe(queryWeight(goldenTokens.indexOf(token)));
  });

  it('has an identity that changes with the weights of its queries and of its network', async () => {
    await writeRouterFolder(folder, '5');
    const identity = async () => (await loadModel(folder)).identity();
    const before = await identity();
    expect(await identity()).toBe(before);
    await writeQueryTensor(join(folder, QUERY), new Float32Array(goldenTokens.length).fill(2));
    const other = await identity();
    expect(other).not.toBe(before);
    const weights = join(folder, transformerFolder('5'), 'model.safetensors');
    const bytes = readFileSync(weights);
    bytes[bytes.length - 1] ^= 1;
    writeFileSync(weights, bytes);
    expect(await identity()).not.toBe(other);
  });

  it('may fill its query weights up to the rows of the network', async () => {
    await writeRouterFolder(folder, '6');
    await writeQueryTensor(join(folder, QUERY), new Float32Array(goldenTokens.length + 3).fill(2));
    expect((await readModelFolder(folder)).idf.values).toEqual(new Float32Array(goldenTokens.length).fill(2));
  });

  it('may name a table of query weights; tokens that it does not name weigh 0', async () => {
    await writeRouterFolder(folder, '5');
    writeJson(join(folder, QUERY, 'config.json'), { frozen: true, path: 'idf.json' });
    for (const place of [QUERY, '']) {
      writeJson(join(folder, place, 'idf.json'), { [goldenTokens[7]]: 3.5 });
      const { idf } = await readModelFolder(folder);
      expect([idf.values[7], idf.values[8]]).toEqual([3.5, 0]);
      rmSync(join(folder, place, 'idf.json'));
    }
    await expect(readModelFolder(folder)).rejects.toThrow(/config\.json: path: "idf\.json" is not there/);
  });

  it('cuts vectors to max_active_dims terms', async () => {
    await writeRouterFolder(folder, '6');
    changeJson(join(folder, 'config_sentence_transformers.json'), { max_active_dims: 7 });
    const { settings, fixed } = await readSourceModel(folder);
    expect(settings.prune).toEqual({ rule: 'top-k', k: 7 });
    expect(fixed.get('prune')).toBe('config_sentence_transformers.json: max_active_dims');
  });

  it('takes no options against its files, and any for what they leave open', async () => {
    await writeRouterFolder(folder, '6');
    const options = { activation: 'l0', prune: { rule: 'top-k', k: 5 } } as const; // the first is what the files say
    expect((await readModelFolder(folder, options)).settings).toMatchObject(options);
    for (const contradiction of [
      { activation: 'relu' },
      { encodeLength: 32 },
      { idf: 'none' },
      { idf: 'idf.json' },
    ] as const) {
      const read = readModelFolder(folder, contradiction);
      await expect(read).rejects.toThrow(ConfigError);
      await expect(read).rejects.toThrow(`${Object.keys(contradiction)[0]} cannot be changed from outside`);
      await expect(read).rejects.toMatchObject({ hint: expect.stringContaining('lzero model import') });
    }
  });

  it('whose query tokenizer differs is refused; differences that cut nothing do not count', async () => {
    await writeRouterFolder(folder, '6');
    writeJson(join(folder, QUERY, 'tokenizer_config.json'), { do_lower_case: true, model_max_length: 9 });
    await readModelFolder(folder);
    writeJson(join(folder, QUERY, 'tokenizer_config.json'), { do_lower_case: false });
    await expect(readModelFolder(folder)).rejects.toThrow(
      /query_0_SparseStaticEmbedding: its tokenizer is not that of/,
    );
  });
});

describe('a Siamese sentence-transformers model', () => {
  it.each(['5', '6'] as const)(
    'of version %s is read, and says that its queries are to be encoded',
    async (version) => {
      writeSiameseFolder(folder, version);
      const model = await readModelFolder(folder);
      expect(model.settings).toMatchObject({ activation: 'relu', encodeLength: 64, queries: 'encoded', idf: 'none' });
      expect(model.notes.join()).toContain('--query-model');
      expect([...model.fixed.keys()].sort()).toEqual(['activation', 'encodeLength']);
    },
  );

  it('has the identity of the same model without that setting: its document vectors are the same', async () => {
    writeSiameseFolder(folder, '5');
    const bare = await loadModel(goldenFolder('tied'), { idf: 'none', encodeLength: 64 });
    expect(await (await loadModel(folder)).identity()).toBe(await bare.identity());
  });

  it('takes a table for queries that are looked up all the same', async () => {
    writeSiameseFolder(folder, '6');
    const table = join(folder, 'table.json');
    writeJson(table, { [goldenTokens[9]]: 2 });
    const { idf, settings } = await readModelFolder(folder, { idf: table });
    expect([idf.values[9], settings.idf]).toEqual([2, 'idf.json']);
  });

  it('may be a router with the same modules on both ways', async () => {
    await writeRouterFolder(folder, '6');
    const document = [transformerFolder('6'), POOLING];
    changeJson(join(folder, 'router_config.json'), { structure: { query: document, document } });
    expect((await readSourceModel(folder)).settings).toMatchObject({ queries: 'encoded' });
  });

  /** A router with modules of its own on the way of queries, as sentence-transformers 5 saves them. */
  async function writeTwoEncoders(query: readonly string[], activation: string): Promise<void> {
    await writeRouterFolder(folder, '6', { activation: 'relu' });
    const document = [transformerFolder('6'), POOLING];
    cpSync(join(folder, document[0]), join(folder, 'query_0_Transformer'), { recursive: true });
    cpSync(join(folder, POOLING), join(folder, 'query_1_SpladePooling'), { recursive: true });
    changeJson(join(folder, 'query_1_SpladePooling/config.json'), { activation_function: activation });
    const path = join(folder, 'router_config.json');
    const { types } = JSON.parse(readFileSync(path, 'utf8'));
    const own = { query_0_Transformer: types[document[0]], query_1_SpladePooling: types[POOLING] };
    changeJson(path, { types: { ...types, ...own }, structure: { query, document } });
  }

  it('with another network for queries is refused, and both folders are named', async () => {
    await writeTwoEncoders(['query_0_Transformer', 'query_1_SpladePooling'], 'relu');
    const read = readSourceModel(folder);
    await expect(read).rejects.toThrow('structure.query.0: queries are encoded by another network');
    const hint = expect.stringMatching(/--model \S+document_0_Transformer, .*--query-model \S+query_0_Transformer/);
    await expect(read).rejects.toMatchObject({ code: 'CHECKPOINT', hint });
    for (const name of [transformerFolder('6'), 'query_0_Transformer'])
      expect((await readSourceModel(join(folder, name))).settings.kind).toBe('bert');
  });

  it('with the same network and another pooling for queries is refused; with the same pooling it is read', async () => {
    const query = [transformerFolder('6'), 'query_1_SpladePooling'];
    await writeTwoEncoders(query, 'log1p_relu');
    await expect(readSourceModel(folder)).rejects.toThrow('l0 for queries, but relu for documents');
    await writeTwoEncoders(query, 'relu');
    expect((await readSourceModel(folder)).settings).toMatchObject({ queries: 'encoded', activation: 'relu' });
  });

  it('whose vectors are limited says that its encoded queries are cut too', async () => {
    writeSiameseFolder(folder, '6');
    changeJson(join(folder, 'config_sentence_transformers.json'), { max_active_dims: 3 });
    const { notes } = await readSourceModel(folder);
    expect(notes.join()).toContain('max_active_dims cuts documents, and queries that are encoded');
    const model = await loadModel(folder);
    const queries = encodeQueries(model, ['the river and the stone']);
    for await (const { terms } of queries) expect(terms).toHaveLength(3);
    await model.close();
  });
});

describe('a sentence-transformers folder with what lzero does not follow', () => {
  const TRANSFORMER = transformerFolder('6');
  type Damage = () => void | Promise<void>;
  const change = (path: string, changes: Readonly<Record<string, unknown>>) => () =>
    changeJson(join(folder, path), changes);
  const router = (changes: Readonly<Record<string, unknown>>) => change('router_config.json', changes);
  const bert = join(TRANSFORMER, 'sentence_bert_config.json');
  const model = 'config_sentence_transformers.json';
  const st = 'sentence_transformers.';

  const cases: [what: string, damage: Damage, file: string, words: string][] = [
    [
      'sum pooling',
      change(join(POOLING, 'config.json'), { pooling_strategy: 'sum' }),
      POOLING,
      'pooling_strategy: expected "max", got "sum"',
    ],
    [
      'another activation',
      change(join(POOLING, 'config.json'), { activation_function: 'gelu' }),
      POOLING,
      'activation_function: expected relu or log1p_relu, got "gelu"',
    ],
    [
      'an activation from Object',
      change(join(POOLING, 'config.json'), { activation_function: 'toString' }),
      POOLING,
      'activation_function',
    ],
    ['an unknown pooling key', change(join(POOLING, 'config.json'), { temperature: 2 }), POOLING, 'temperature'],
    ['no pooling settings', () => rmSync(join(folder, POOLING, 'config.json')), POOLING, 'is missing'],
    [
      'a dense module',
      () => changeModule(folder, 0, { type: `${st}models.Dense.Dense` }),
      'modules.json',
      '0.type: expected Router',
    ],
    ["somebody else's module", () => changeModule(folder, 0, { type: 'my.SpladePooling' }), 'modules.json', '0.type'],
    ['modules that are no list', () => writeJson(join(folder, 'modules.json'), {}), 'modules.json', 'file: '],
    ['no modules', () => writeJson(join(folder, 'modules.json'), []), 'modules.json', 'file: '],
    ['a module without a path', () => changeModule(folder, 0, { path: undefined }), 'modules.json', '0.path'],
    ['broken JSON', () => writeFileSync(join(folder, 'modules.json'), '[{'), 'modules.json', 'not JSON'],
    [
      'a transformer for features',
      change(bert, { transformer_task: 'feature-extraction' }),
      'sentence_bert_config.json',
      'transformer_task: expected "fill-mask"',
    ],
    [
      'a transformer without a task',
      () => rmSync(join(folder, bert)),
      'router_config.json',
      'structure.document.0: a Transformer without an MLM head',
    ],
    [
      'arguments for transformers',
      change(bert, { model_args: { torch_dtype: 'float16' } }),
      'sentence_bert_config.json',
      'model_args',
    ],
    ['an unknown transformer key', change(bert, { query_prefix: 'q' }), 'sentence_bert_config.json', 'query_prefix'],
    [
      'more tokens than positions',
      change(bert, { max_seq_length: 4096 }),
      'sentence_bert_config.json',
      'max_seq_length: 4096 tokens',
    ],
    ['too few tokens', change(bert, { max_seq_length: 2 }), 'sentence_bert_config.json', 'max_seq_length: 2 tokens'],
    [
      'no length anywhere',
      () => {
        rmSync(join(folder, TRANSFORMER, 'config.json'));
        change(bert, { max_seq_length: null })();
        change(join(TRANSFORMER, 'tokenizer_config.json'), { model_max_length: 1e30 })(); // as transformers writes none
      },
      TRANSFORMER,
      'it is not known how many tokens the network reads: no max_position_embeddings in config.json and model_max_length',
    ],
    [
      'too few tokens, with no settings of the network',
      () => {
        rmSync(join(folder, TRANSFORMER, 'config.json'));
        change(bert, { max_seq_length: 2 })();
      },
      'sentence_bert_config.json',
      'max_seq_length: 2 tokens; expected a whole number from 3 on',
    ],
    [
      'no network settings',
      () => rmSync(join(folder, TRANSFORMER, 'config.json')),
      TRANSFORMER,
      'config.json is missing',
    ],
    [
      'cosine similarity',
      change(model, { similarity_fn_name: 'cosine' }),
      model,
      'similarity_fn_name: expected "dot", got "cosine"',
    ],
    ['a prompt', change(model, { prompts: { document: 'passage: ' } }), model, 'prompts.document'],
    ['a default prompt', change(model, { prompts: { x: 'y' }, default_prompt_name: 'x' }), model, 'prompts.x'],
    [
      'another model type',
      change(model, { model_type: 'CrossEncoder' }),
      model,
      'model_type: expected "SparseEncoder"',
    ],
    [
      'an unknown route',
      router({ structure: { query: [QUERY], document: [TRANSFORMER, POOLING], image: [QUERY] } }),
      'router_config.json',
      'image',
    ],
    [
      'no route for queries',
      router({ structure: { document: [TRANSFORMER, POOLING] } }),
      'router_config.json',
      'structure.query',
    ],
    [
      'rules for routes',
      router({ parameters: { route_mappings: { "('query', None)": 'document' } } }),
      'router_config.json',
      'parameters.route_mappings',
    ],
    [
      'a module of no type',
      router({ structure: { query: ['other'], document: [TRANSFORMER, POOLING] } }),
      'router_config.json',
      'structure.query.0: "other" is not among the types',
    ],
    [
      'documents without pooling',
      router({ structure: { query: [QUERY], document: [TRANSFORMER] } }),
      'router_config.json',
      'expected a SpladePooling after it',
    ],
    [
      'documents looked up',
      router({ structure: { query: [QUERY], document: [QUERY] } }),
      'router_config.json',
      'structure.document.0: expected a Transformer',
    ],
    [
      'queries pooled',
      router({ structure: { query: [QUERY, POOLING], document: [TRANSFORMER, POOLING] } }),
      'router_config.json',
      'structure.query.1: expected nothing after',
    ],
    ['no router settings', () => rmSync(join(folder, 'router_config.json')), 'router_config.json', 'is missing'],
    ['an unknown embedding key', change(join(QUERY, 'config.json'), { scale: 2 }), QUERY, 'scale'],
    [
      'a table that is no table',
      change(join(QUERY, 'config.json'), { path: 'weights.pt' }),
      QUERY,
      'path: expected the name of a .json file',
    ],
    [
      'a table outside',
      change(join(QUERY, 'config.json'), { path: '../../idf.json' }),
      QUERY,
      'is not a folder inside',
    ],
    [
      'no query weights',
      () => rmSync(join(folder, QUERY, 'model.safetensors')),
      QUERY,
      'the weights of the query tokens are missing',
    ],
    ['too few query weights', () => writeQueryTensor(join(folder, QUERY), new Float32Array(5)), QUERY, 'got [5]'],
    [
      'an adapter',
      () => {
        rmSync(join(folder, TRANSFORMER, 'model.safetensors'));
        writeJson(join(folder, TRANSFORMER, 'adapter_config.json'), {});
      },
      'adapter_config.json',
      'an adapter',
    ],
    [
      'lower case that the tokenizer does not do',
      () => {
        change(bert, { do_lower_case: true })();
        for (const place of [TRANSFORMER, QUERY])
          writeJson(join(folder, place, 'tokenizer_config.json'), { do_lower_case: false, model_max_length: 64 });
      },
      'sentence_bert_config.json',
      'do_lower_case: true, but the tokenizer',
    ],
  ];
  it.each(cases)('(%s) is a CheckpointError that names the file and the key', async (_, damage, file, words) => {
    await writeRouterFolder(folder, '6');
    await damage();
    const read = readModelFolder(folder);
    await expect(read).rejects.toThrow(CheckpointError);
    await expect(read).rejects.toThrow(file);
    await expect(read).rejects.toThrow(words);
  });

  it('points a dense model to the head that lzero can make for it', async () => {
    writeSiameseFolder(folder, '6');
    changeModule(folder, 1, { type: `${st}models.Pooling.Pooling` });
    await expect(readSourceModel(folder)).rejects.toMatchObject({ hint: expect.stringContaining('--head pooled') });
  });
});

describe('paths in a sentence-transformers folder', () => {
  it.each(['..', '../..', 'a/../..', '/etc', '\\etc', 'C:\\x', 'a\0b'])('may not be %j', async (path) => {
    await writeRouterFolder(folder, '6');
    changeModule(folder, 0, { path });
    const read = readSourceModel(folder);
    await expect(read).rejects.toThrow(CheckpointError);
    await expect(read).rejects.toThrow('modules.json: 0.path');
  });

  it.skipIf(process.platform === 'win32')(
    'may not be links out of the folder, nor links that end nowhere',
    async () => {
      await writeRouterFolder(folder, '6');
      const links = { out: tmpdir(), round: join(folder, 'round'), nowhere: join(folder, 'nothing') };
      for (const [name, target] of Object.entries(links)) {
        symlinkSync(target, join(folder, name));
        changeModule(folder, 0, { path: name });
        const read = readSourceModel(folder);
        await expect(read).rejects.toThrow(CheckpointError);
        await expect(read).rejects.toThrow('modules.json: 0.path');
      }
    },
  );

  it.skipIf(process.platform === 'win32')('lead to files that may be links, as in the cache of a hub', async () => {
    const blobs = mkdtempSync(join(tmpdir(), 'lzero-blobs-'));
    await writeRouterFolder(folder, 'opensearch');
    const config = readFileSync(join(folder, 'router_config.json'));
    writeFileSync(join(blobs, 'router'), config);
    rmSync(join(folder, 'router_config.json'));
    symlinkSync(join(blobs, 'router'), join(folder, 'router_config.json'));
    await readModelFolder(folder);
    rmSync(blobs, { recursive: true });
    await expect(readModelFolder(folder)).rejects.toThrow(/cannot read .*router_config\.json/);
  });

  it.skipIf(process.platform === 'win32')('end: a modules.json that links to itself is a CheckpointError', async () => {
    symlinkSync('modules.json', join(folder, 'modules.json'));
    writeJson(join(folder, 'config.json'), {});
    await expect(readSourceModel(folder)).rejects.toThrow(/cannot read .*modules\.json/);
  });

  it('end: a router that names itself, or another router, is a CheckpointError', async () => {
    await writeRouterFolder(folder, '6');
    const type = 'sentence_transformers.base.modules.router.Router';
    const document = [transformerFolder('6'), POOLING];
    for (const id of ['', 'inner']) {
      mkdirSync(join(folder, id), { recursive: true });
      changeJson(join(folder, 'router_config.json'), { types: { [id]: type }, structure: { query: [id], document } });
      await expect(readSourceModel(folder)).rejects.toThrow(/router_config\.json: types\..*: a Router inside a Router/);
    }
  });
});

describe('the files of a sentence-transformers folder', () => {
  const FILES = [
    'modules.json',
    'router_config.json',
    'config_sentence_transformers.json',
    `${POOLING}/config.json`,
    `${QUERY}/config.json`,
    'document_0_Transformer/sentence_bert_config.json',
  ];

  test.prop([fc.constantFrom(...FILES), fc.oneof(fc.json(), fc.string())], { numRuns: 60 })(
    'may hold anything: they are read or refused by name, never anything else',
    async (file, text) => {
      await writeRouterFolder(folder, '6');
      writeFileSync(join(folder, file), text);
      const read = await readModelFolder(folder).catch((error: unknown) => error);
      if (!(read instanceof Error)) return;
      expect(read instanceof CheckpointError || read instanceof ConfigError || read instanceof IdfError).toBe(true);
      expect(read.message).toMatch(/json|query_0/);
    },
  );

  it('may not be larger than any of them needs to be', async () => {
    await writeRouterFolder(folder, '6');
    writeFileSync(join(folder, 'modules.json'), ' '.repeat(2 ** 23 + 1));
    await expect(readSourceModel(folder)).rejects.toThrow('expected at most');
  });
});
