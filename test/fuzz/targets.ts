/** The parsers of files from elsewhere, each with sound inputs to damage. What they may throw is checked elsewhere. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CheckpointError, type Random } from '../../src/core/index.ts';
import { unzip } from '../../src/download/index.ts';
import { GraphBuilder, toOnnx } from '../../src/graph/index.ts';
import { parseBertConfig } from '../../src/model/bert-config.ts';
import { readModelFolder } from '../../src/model/model-folder.ts';
import { readOnnxInterface } from '../../src/model/onnx/onnx-interface.ts';
import { parseSettings } from '../../src/model/settings.ts';
import { unpickle } from '../../src/model/tensors/pickle.ts';
import { ReusedMemory } from '../../src/model/tensors/reused-memory.ts';
import { openSafetensors } from '../../src/model/tensors/safetensors.ts';
import type { TensorFile } from '../../src/model/tensors/tensor-file.ts';
import { openTorchFile } from '../../src/model/tensors/torch-file.ts';
import { torchWorld } from '../../src/model/tensors/torch-globals.ts';
import { createTokenizer, encodeQuery, noIdf, parseIdf } from '../../src/text/index.ts';
import { goldenFolder } from '../golden/model/fixtures.ts';
import { tokenizerJson } from '../golden/text/fixtures.ts';
import { makeZip } from '../http/make-zip.ts';
import { type Python, pickle } from '../lib/make-pickle.ts';
import { floats, type LegacyStorage, orderedDict, storage, tensor, torchLegacy, torchZip } from '../lib/make-torch.ts';
import { writeRouterFolder } from '../lib/sparse-encoder-folder.ts';
import { mutateBytes, mutateJson, mutatePickle } from './mutate.ts';

/** A parser to fuzz. */
export type FuzzTarget = {
  readonly name: string;
  /** Makes a damaged input. */
  readonly damage: (random: Random) => Buffer;
  /** Parses it, and reads what it describes. `folder` is for files. */
  readonly parse: (bytes: Buffer) => Promise<void>;
};

/** All parsers. `folder` is theirs to write in. */
export async function fuzzTargets(folder: string): Promise<FuzzTarget[]> {
  return [...weightTargets(folder), ...textTargets(), ...(await folderTargets(folder))];
}

type Mutate = (random: Random, bytes: Uint8Array, other: Uint8Array) => Buffer;

function target(
  name: string,
  seeds: readonly (Uint8Array | string)[],
  {
    mutate = mutateBytes,
    parse,
  }: {
    mutate?: Mutate;
    parse: FuzzTarget['parse'];
  },
): FuzzTarget {
  const sound = seeds.map((seed) => (typeof seed === 'string' ? Buffer.from(seed) : Buffer.from(seed)));
  const pick = (random: Random): Buffer => sound[random.below(sound.length)];
  return { name, parse, damage: (random) => mutate(random, pick(random), pick(random)) };
}

// ── weights ──

function weightTargets(folder: string): FuzzTarget[] {
  const path = join(folder, 'weights');
  const withFile =
    (parse: (path: string) => Promise<void>) =>
    async (bytes: Buffer): Promise<void> => {
      writeFileSync(path, bytes);
      await parse(path);
    };
  const output = join(folder, 'unzipped');
  const unpack = async (archive: string): Promise<void> => {
    rmSync(output, { recursive: true, force: true });
    await unzip(archive, output, { maxBytes: 1_000_000 });
  };
  const objects = torchObjects();
  const pickles = objects.map((object) => pickle(object));
  const readTorch = withFile((file) => readTensors(openTorchFile(file)));
  return [
    target('safetensors', safetensorsSeeds(), { parse: withFile((file) => readTensors(openSafetensors(file))) }),
    target('torch zip', zipSeeds(objects), { parse: readTorch }),
    target('torch legacy', objects.map(legacyFile), { parse: readTorch }),
    target('pickle', pickles, { mutate: mutatePickle, parse: readPickle }),
    target('torch zip, damaged object', pickles, {
      mutate: mutatePickle,
      parse: async (bytes) => await readTorch(torchZip(bytes, { 0: SIX, 1: HALVES })),
    }),
    target('torch legacy, damaged object', pickles, {
      mutate: mutatePickle,
      parse: async (bytes) => await readTorch(torchLegacy(bytes, LEGACY_STORAGES)),
    }),
    target('zip', archiveSeeds(), { parse: withFile(unpack) }),
    target('onnx', onnxSeeds(), { parse: withFile(async (file) => void (await readOnnxInterface(file))) }),
  ];
}

/** Reads every tensor, and its bytes where it holds no floats. */
async function readTensors(opening: Promise<TensorFile>): Promise<void> {
  const file = await opening;
  const memory = new ReusedMemory();
  try {
    for (const name of file.tensors.keys()) {
      await file.readBytes(name);
      await file.readFloat32(name, memory).catch((error: unknown) => {
        if (!(error instanceof CheckpointError)) throw error;
      });
    }
  } finally {
    await file.close();
  }
}

async function readPickle(bytes: Buffer): Promise<void> {
  unpickle({ bytes, label: 'pickle', start: 0, hasMore: false }, torchWorld(new Map()));
}

const SIX = floats(1, 2, 3, 4, 5, 6);
const HALVES = Buffer.from([0, 0x3c, 0, 0xc0]);
const LEGACY_STORAGES: readonly LegacyStorage[] = [
  ['0', 6, SIX],
  ['1', 2, HALVES],
];

/** State dicts over a storage "0" of six floats and a storage "1" of two halves. */
function torchObjects(): Python[] {
  const a = tensor({ numValues: 6, shape: [2, 3] });
  const b = tensor({ key: '1', type: 'Half', numValues: 2, shape: [2] });
  const untyped: Python = {
    persistent: { tuple: ['storage', { name: 'torch.storage.UntypedStorage' }, '0', 'cpu', 24] },
  };
  const v3: Python = {
    call: { name: 'torch._utils._rebuild_tensor_v3' },
    args: [untyped, 1, { tuple: [5] }, { tuple: [2] }, false, orderedDict([]), { name: 'torch.uint16' }],
  };
  return [
    orderedDict([
      ['a', a],
      ['b', b],
    ]),
    {
      dict: [
        ['epoch', 3],
        [
          'state_dict',
          orderedDict([
            ['t', tensor({ numValues: 6, shape: [3, 2], strides: [1, 3] })],
            ['b', b],
          ]),
        ],
        ['lr', 1e-4],
      ],
    },
    {
      dict: [
        [
          'model',
          orderedDict([
            ['p', { call: { name: 'torch._utils._rebuild_parameter' }, args: [a, true, orderedDict([])] }],
            ['b', b],
          ]),
        ],
        ['big', 2n ** 70n],
      ],
    },
    {
      dict: [
        ['b', b],
        ['v', v3],
        ['l', [null, true, { tuple: [storage({ key: '1', type: 'Half', numValues: 2, shape: [] })] }]],
      ],
    },
  ];
}

function zipSeeds(objects: readonly Python[]): Buffer[] {
  const storages = { 0: SIX, 1: HALVES };
  return objects.flatMap((object) => [
    torchZip(object, storages),
    torchZip(object, storages, { isDeflated: true }),
    torchZip(object, storages, { isWide: true, byteorder: 'big' }),
  ]);
}

function legacyFile(object: Python): Buffer {
  const numValues = pickle(object).includes('Untyped') ? 24 : 6;
  return torchLegacy(object, [['0', numValues, SIX], LEGACY_STORAGES[1]]);
}

function safetensorsSeeds(): Buffer[] {
  const header = {
    __metadata__: { format: 'pt' },
    a: { dtype: 'F32', shape: [2, 3], data_offsets: [0, 24] },
    b: { dtype: 'F16', shape: [2], data_offsets: [24, 28] },
    c: { dtype: 'I64', shape: [], data_offsets: [28, 36] },
  };
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  const small = readFileSync(join(goldenFolder('tied'), 'model.safetensors'));
  return [Buffer.concat([length, json, SIX, HALVES, Buffer.alloc(8)]), small];
}

function archiveSeeds(): Buffer[] {
  const files = [
    { name: 'a/b.txt', text: 'hello hello hello' },
    { name: 'c', text: 'stored', isStored: true },
  ];
  return [
    makeZip(files),
    makeZip(
      files.map((file) => ({ ...file, isWide: true })),
      { isWide: true, comment: 'PK' },
    ),
  ];
}

function onnxSeeds(): Uint8Array[] {
  const g = new GraphBuilder('fuzz');
  const x = g.input('input_ids', 'int32', ['B', 'T']);
  g.output('logits', x);
  return [toOnnx(g)];
}

// ── text ──

const read = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');

function textTargets(): FuzzTarget[] {
  const tied = goldenFolder('tied');
  const tokens = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'a', 'b', '##c', 'hello'];
  const bert = JSON.stringify(tokenizerJson(tokens));
  const vocabTxt = read(tied, 'vocab.txt');
  const tokenizer = async (source: { tokenizerJson: string } | { vocabTxt: string; tokenizerConfig?: string }) => {
    const made = await createTokenizer({ ...source, label: 'fuzz' });
    encodeQuery({ tokenizer: made, idf: noIdf(made.vocabulary) }, 'hello ab [MASK] é\u0000 中');
  };
  return [
    target('tokenizer.json', [bert, JSON.stringify(byteLevel())], {
      mutate: mutateJson,
      parse: (bytes) => tokenizer({ tokenizerJson: bytes.toString() }),
    }),
    target('vocab.txt', [vocabTxt], { parse: (bytes) => tokenizer({ vocabTxt: bytes.toString() }) }),
    target(
      'tokenizer_config.json',
      ['{"do_lower_case":true,"strip_accents":null,"tokenize_chinese_chars":true,"unk_token":"[UNK]"}'],
      {
        mutate: mutateJson,
        parse: (bytes) => tokenizer({ vocabTxt, tokenizerConfig: bytes.toString() }),
      },
    ),
    target('config.json', [read(tied, 'config.json')], {
      mutate: mutateJson,
      parse: async (bytes) => void parseBertConfig(bytes.toString(), 'config.json'),
    }),
    target('lzero.json', [read(join(import.meta.dirname, '../../models/bow'), 'lzero.json')], {
      mutate: mutateJson,
      parse: async (bytes) => void parseSettings(bytes.toString(), 'lzero.json'),
    }),
    target('idf.json', ['{"hello":1.5,"a":0,"##c":2e-3}'], {
      mutate: mutateJson,
      parse: async (bytes) => {
        const { vocabulary } = await createTokenizer({ tokenizerJson: bert, label: 'fuzz' });
        parseIdf(bytes.toString(), vocabulary, 'idf.json');
      },
    }),
  ];
}

/** A tokenizer of another kind, which the library runs. */
function byteLevel(): object {
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [
      { id: 0, content: '<s>', single_word: false, lstrip: false, rstrip: false, normalized: false, special: true },
    ],
    normalizer: { type: 'NFC' },
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    post_processor: null,
    decoder: { type: 'ByteLevel' },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: '',
      end_of_word_suffix: '',
      fuse_unk: false,
      vocab: { '<s>': 0, h: 1, e: 2, l: 3, o: 4, he: 5, a: 6, b: 7 },
      merges: ['h e'],
    },
  };
}

// ── folders ──

/** Folders of models of which one small file is damaged at a time. */
async function folderTargets(folder: string): Promise<FuzzTarget[]> {
  const model = join(folder, 'sentence-transformers');
  mkdirSync(model);
  await writeRouterFolder(model, '6');
  return [...smallFiles(model)].map((name) => {
    const path = join(model, name);
    const sound = readFileSync(path);
    const parse = async (bytes: Buffer): Promise<void> => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
      try {
        await readModelFolder(model);
      } finally {
        writeFileSync(path, sound);
      }
    };
    return target(`folder: ${name}`, [sound], { mutate: mutateJson, parse });
  });
}

function* smallFiles(folder: string): Generator<string> {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort())
    if (name.endsWith('.json')) yield name;
}
