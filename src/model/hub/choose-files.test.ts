import { describe, expect, it } from 'vitest';
import { CheckpointError } from '../../core/index.ts';
import { chooseFiles, namedFiles } from './choose-files.ts';

/** What these files say about others. */
function namedBy(files: Readonly<Record<string, unknown>>) {
  return namedFiles(async (path) => (path in files ? JSON.stringify(files[path]) : undefined));
}

const NOISE = ['README.md', '.gitattributes', 'tf_model.h5', 'flax_model.msgpack', 'training_args.bin', 'runs/events'];
const TOKENIZER = ['tokenizer.json', 'tokenizer_config.json', 'vocab.txt', 'special_tokens_map.json'];
const type = (name: string): string => `sentence_transformers.sparse_encoder.models.${name}.${name}`;

describe('the files of a model', () => {
  it('are its description, its tokenizer and its weights once: safetensors, else pytorch_model.bin, else ONNX', () => {
    const bare = ['config.json', ...TOKENIZER];
    const onnx = ['onnx/model.onnx', 'onnx/model.onnx_data', 'onnx/model_quantized.onnx'];
    const all = [...bare, ...NOISE, 'model.safetensors', 'pytorch_model.bin', ...onnx];
    const without = (...names: string[]): string[] => all.filter((path) => !names.includes(path));
    expect(chooseFiles(all)).toEqual([...bare, 'model.safetensors'].sort());
    expect(chooseFiles(without('model.safetensors'))).toEqual([...bare, 'pytorch_model.bin'].sort());
    expect(chooseFiles(without('model.safetensors', 'pytorch_model.bin'))).toEqual(
      [...bare, 'onnx/model.onnx'].sort(), // what else it needs, it says itself
    );
  });

  it('of an opensearch model are also its query weights', () => {
    const files = ['config.json', 'idf.json', 'query_token_weights.txt', 'vocab.txt', 'pytorch_model.bin'];
    expect(chooseFiles([...files, ...NOISE])).toEqual(files.sort());
  });

  it('of a router are those of its modules, and weights in these only', async () => {
    const files = {
      'modules.json': [{ idx: 0, name: '0', path: '', type: 'sentence_transformers.models.Router.Router' }],
      'router_config.json': {
        types: {
          query_0_SparseStaticEmbedding: type('SparseStaticEmbedding'),
          document_0_MLMTransformer: type('MLMTransformer'),
          document_1_SpladePooling: type('SpladePooling'),
        },
      },
    };
    const wanted = [
      ...Object.keys(files),
      'config_sentence_transformers.json',
      'document_0_MLMTransformer/config.json',
      'document_0_MLMTransformer/model.safetensors',
      'document_0_MLMTransformer/sentence_bert_config.json',
      'document_0_MLMTransformer/vocab.txt',
      'document_1_SpladePooling/config.json',
      'query_0_SparseStaticEmbedding/model.safetensors',
      'query_0_SparseStaticEmbedding/tokenizer.json',
    ];
    const others = [
      'model.safetensors', // of no module: the root is the router
      'document_0_MLMTransformer/pytorch_model.bin',
      'document_0_MLMTransformer/README.md',
      'checkpoint-100/model.safetensors',
      'checkpoint-100/config.json',
    ];
    const named = await namedBy(files);
    expect(chooseFiles([...wanted, ...others], named)).toEqual(wanted.sort());
  });

  it.each([
    ['beside its config.json', 'query_0_Static/weights/table.json', './weights/table.json'],
    ['in the root', 'tables/idf-v2.json', 'tables/idf-v2.json'],
  ])('are also a table of query weights %s, whatever it is called', async (_, table, path) => {
    const files = {
      'modules.json': [{ path: '', type: 'sentence_transformers.models.Router.Router' }],
      'router_config.json': { types: { query_0_Static: type('SparseStaticEmbedding'), document_0_MLM: type('X') } },
      'query_0_Static/config.json': { path },
      'document_0_MLM/config.json': { path: 'other.json' }, // means nothing there
    };
    const wanted = [...Object.keys(files), 'document_0_MLM/model.safetensors', table];
    const chosen = chooseFiles([...wanted, 'other.json', 'document_0_MLM/other.json'], await namedBy(files));
    expect(chosen).toEqual(wanted.sort());
  });

  it.each(['../idf.json', '/etc/table.json', 'a/../../b.json', 'weights.bin', ''])(
    'are no table at %j',
    async (path) => {
      const files = {
        'modules.json': [{ path: 'q', type: type('SparseStaticEmbedding') }],
        'q/config.json': { path },
      };
      const wanted = [...Object.keys(files), 'q/model.safetensors'];
      expect(chooseFiles([...wanted, path], await namedBy(files))).toEqual(wanted.sort());
    },
  );

  it('of a router whose transformer lies in the root are those of the root too', async () => {
    const files = {
      'modules.json': [{ path: '', type: 'sentence_transformers.base.modules.router.Router' }],
      'router_config.json': { types: { query_0_SparseStaticEmbedding: type('X'), '': type('MLMTransformer') } },
    };
    const named = await namedBy(files);
    expect(named.folders).toEqual({ modules: ['query_0_SparseStaticEmbedding', ''], routers: [''] });
    const weights = ['model.safetensors', 'query_0_SparseStaticEmbedding/model.safetensors'];
    expect(chooseFiles([...Object.keys(files), ...weights, 'config.json'], named)).toEqual(
      expect.arrayContaining([...weights, 'config.json']),
    );
  });

  it('of modules without a router are those of their folders, whatever these are called', async () => {
    const files = {
      'modules.json': [
        { path: '', type: type('MLMTransformer') },
        { path: './my pooling/', type: 'P' },
      ],
    };
    const named = await namedBy(files);
    expect(named.folders).toEqual({ modules: ['', 'my pooling'], routers: [] });
    const wanted = ['config.json', 'model.safetensors', 'modules.json', 'my pooling/config.json'];
    expect(chooseFiles([...wanted, '1_Pooling/config.json'], named)).toEqual(wanted);
  });

  it('of a module that only ONNX has are those of ONNX, whatever other modules have', async () => {
    const files = {
      'modules.json': [{ path: '', type: 'sentence_transformers.models.Router.Router' }],
      'router_config.json': { types: { query_0_Static: 'x', document_0_MLM: 'y' } },
    };
    const wanted = ['document_0_MLM/config.json', 'document_0_MLM/onnx/model.onnx', 'query_0_Static/model.safetensors'];
    expect(chooseFiles([...wanted, ...Object.keys(files)], await namedBy(files))).toEqual(
      [...wanted, ...Object.keys(files)].sort(),
    );
  });

  it('of our own layout are the network that lzero.json names, and no other', async () => {
    const named = await namedBy({ 'lzero.json': { kind: 'onnx', file: 'onnx/encoder.onnx' } });
    const wanted = ['config.json', 'lzero.json', 'onnx/encoder.onnx'];
    expect(chooseFiles([...wanted, 'model.safetensors', 'onnx/model.onnx'], named)).toEqual(wanted);
  });

  it('of our own bag of words need no weights', () => {
    expect(chooseFiles(['lzero.json', 'idf.json', 'vocab.txt'])).toEqual(['idf.json', 'lzero.json', 'vocab.txt']);
  });

  it('are refused where there are no weights we could read, with those that are there', () => {
    const all = ['config.json', 'tf_model.h5', 'model-00001-of-00002.safetensors'];
    expect(() => chooseFiles(all)).toThrow(/no weights .* tf_model\.h5, model-00001-of-00002\.safetensors/);
    expect(() => chooseFiles([])).toThrow(CheckpointError);
  });
});

describe('folders of modules', () => {
  it('are none without modules.json', async () => {
    expect((await namedBy({})).folders).toBeUndefined();
  });

  it.each(['../elsewhere', 'a/../../b', 'a\\b', 'a//b', 'C:/x'])('never lie outside: %j', async (path) => {
    await expect(namedBy({ 'modules.json': [{ path, type: 'X' }] })).rejects.toThrow(/modules\.json: the module/);
  });

  it.each([['{'], ['{}'], ['[{"path": 1}]'], ['null']])('are refused of %s', async (text) => {
    await expect(namedFiles(async (path) => (path === 'modules.json' ? text : undefined))).rejects.toThrow(
      CheckpointError,
    );
  });
});
