/** Files of weights and graphs, each with sound inputs to damage. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CheckpointError } from '../../src/core/index.ts';
import { GraphBuilder, toOnnx } from '../../src/graph/index.ts';
import { Checkpoint } from '../../src/model/checkpoint.ts';
import { writeOnnx } from '../../src/model/onnx/export-onnx.ts';
import { externalLocations } from '../../src/model/onnx/graph-files.ts';
import { readOnnxInterface } from '../../src/model/onnx/onnx-interface.ts';
import { unpickle } from '../../src/model/tensors/pickle.ts';
import { ReusedMemory } from '../../src/model/tensors/reused-memory.ts';
import { openSafetensors } from '../../src/model/tensors/safetensors.ts';
import type { TensorFile } from '../../src/model/tensors/tensor-file.ts';
import { openTorchFile } from '../../src/model/tensors/torch-file.ts';
import { torchWorld } from '../../src/model/tensors/torch-globals.ts';
import { goldenFolder } from '../golden/model/fixtures.ts';
import { type Python, pickle } from '../lib/make-pickle.ts';
import { floats, type LegacyStorage, orderedDict, storage, tensor, torchLegacy, torchZip } from '../lib/make-torch.ts';
import { mutatePickle } from './mutate.ts';
import { type FuzzTarget, target, withFile } from './target.ts';

/** Parsers of weights and graphs. `folder` is theirs to write in. */
export async function weightTargets(folder: string): Promise<FuzzTarget[]> {
  const path = join(folder, 'weights');
  const objects = torchObjects();
  const pickles = objects.map((object) => pickle(object));
  const readTorch = withFile(path, (file) => readTensors(openTorchFile(file)));
  return [
    target('safetensors', safetensorsSeeds(), { parse: withFile(path, (file) => readTensors(openSafetensors(file))) }),
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
    target('onnx', await onnxSeeds(folder), { parse: withFile(path, readGraph) }),
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
  return [
    ...objects.flatMap((object) => [
      torchZip(object, storages),
      torchZip(object, storages, { isDeflated: true }),
      torchZip(object, storages, { isWide: true, byteorder: 'big' }),
    ]),
    manyStorages(),
  ];
}

/** Many deflated storages of zeros, each of which two tensors share: little on disk, and a lot in memory. */
function manyStorages(): Buffer {
  const numValues = 2 ** 14;
  const keys = Array.from({ length: 30 }, (_, i) => String(i));
  const object = orderedDict(
    keys.flatMap((key) => [
      [`${key}.a`, tensor({ key, numValues, shape: [2 ** 7, 2 ** 7] })] as const,
      [`${key}.b`, tensor({ key, numValues, shape: [2 ** 7, 2 ** 7], strides: [0, 1] })] as const,
    ]),
  );
  return torchZip(object, Object.fromEntries(keys.map((key) => [key, Buffer.alloc(4 * numValues)])), {
    isDeflated: true,
  });
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

async function readGraph(file: string): Promise<void> {
  await readOnnxInterface(file);
  await externalLocations(file);
}

/** A graph of two fields, and a whole encoder: with its weights inside, with them beside it, and in integers. */
async function onnxSeeds(folder: string): Promise<Uint8Array[]> {
  const g = new GraphBuilder('fuzz');
  const x = g.input('input_ids', 'int32', ['B', 'T']);
  g.output('logits', x);
  const path = join(folder, 'seed.onnx');
  const encoders: Uint8Array[] = [];
  const checkpoint = await Checkpoint.open(goldenFolder('tied'));
  const terms = { form: 'logits', numTerms: checkpoint.config.vocabSize, silenced: new Set<number>() } as const;
  for (const form of [
    { precision: 'fp32' },
    { precision: 'fp32', maxInlineBytes: 0 },
    { precision: 'int8' },
  ] as const) {
    await writeOnnx(path, checkpoint, { ...terms, ...form });
    encoders.push(readFileSync(path));
  }
  await checkpoint.close();
  return [toOnnx(g), ...encoders];
}
