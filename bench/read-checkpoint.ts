/**
 * Time to read every tensor of a checkpoint, against reading the same file without looking at it. By turns in one
 * process, the file in the system's cache: what is left is our own work (finding the tensors, checking each value).
 *
 *     LZERO_PYTHON=… npx tsx bench/read-checkpoint.ts FOLDER [--rounds 11] [--json results.json]
 *
 * FOLDER has model.safetensors, bert-base for the published numbers (440 MB). With LZERO_PYTHON, which needs torch and
 * safetensors, the same weights are also read as pytorch_model.bin, in both formats of torch.save. The bar: at most 1.2
 * times the time of a plain reading of the same blocks (one for each tensor), with new memory for each tensor, as whoever
 * keeps the values needs it. Both are also done with the same memory again and again, as loading a model does it, where
 * the engine maps the file and the values are only checked: that has no bar, since nobody gets the values.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openTensorFile, type Place, ReusedMemory } from '../src/model/index.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atMost, type Part, printPart, writeResults } from './lib/report.ts';
import { median, spread } from './lib/statistics.ts';

const BAR = 1.2;
const WARM_UP_ROUNDS = 2;
const reused = new ReusedMemory();

const SAVE = `
import sys, torch
from safetensors.torch import load_file
torch.save(load_file(sys.argv[1]), sys.argv[2], _use_new_zipfile_serialization=sys.argv[3] == 'zip')
`;

type Way = { readonly name: string; run(): Promise<number> };

/** Opens a folder's checkpoint and reads all of it, into new memory unless some is given; gives the number of bytes. */
async function readCheckpoint(folder: string, memory?: ReusedMemory): Promise<number> {
  const file = await openTensorFile(folder);
  let numBytes = 0;
  for (const [name, { dtype }] of file.tensors) {
    const isFloat = ['F32', 'F16', 'BF16', 'F64'].includes(dtype);
    numBytes += (isFloat ? await file.readFloat32(name, memory) : await file.readBytes(name)).byteLength;
  }
  await file.close();
  return numBytes;
}

/** Where the tensors are. */
async function blocksOf(folder: string): Promise<{ path: string; blocks: Place[] }> {
  const file = await openTensorFile(folder);
  const blocks = Array.from(file.tensors.values(), ({ place }) => place).filter((place) => place !== undefined);
  await file.close();
  return { path: file.path, blocks };
}

/** Each block at once, into memory of its own or into what is given. */
async function readBlocks(path: string, blocks: readonly Place[], memory?: Buffer): Promise<number> {
  const handle = await open(path, 'r');
  let numBytes = 0;
  for (const { offset, length } of blocks) {
    const buffer = memory ?? Buffer.allocUnsafeSlow(length);
    numBytes += (await handle.read(buffer, 0, length, offset)).bytesRead;
  }
  await handle.close();
  return numBytes;
}

async function race(ways: readonly Way[], rounds: number): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>(ways.map(({ name }) => [name, []]));
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const { name, run } of round % 2 === 0 ? ways : ways.toReversed()) {
      const start = performance.now();
      const numBytes = await run();
      if (round >= 0) times.get(name)?.push(performance.now() - start);
      if (numBytes === 0) throw new Error(`${name}: nothing was read`);
    }
  }
  return times;
}

const KEPT = 'checkpoint, every tensor in new memory';
const PLAIN_KEPT = 'plain reading of the same blocks, likewise';
const CHECKED = 'checkpoint, memory used again';
const PLAIN_CHECKED = 'plain reading, likewise';

async function part(kind: string, folder: string, rounds: number): Promise<Part> {
  const { path, blocks } = await blocksOf(folder);
  const memory = Buffer.allocUnsafeSlow(Math.max(...blocks.map(({ length }) => length)));
  const ways: Way[] = [
    { name: KEPT, run: () => readCheckpoint(folder) },
    { name: PLAIN_KEPT, run: () => readBlocks(path, blocks) },
    { name: CHECKED, run: () => readCheckpoint(folder, reused) },
    { name: PLAIN_CHECKED, run: () => readBlocks(path, blocks, memory) },
  ];
  const times = await race(ways, rounds);
  const timesOf = (name: string): number[] => times.get(name) ?? [];
  const rows = ways.map(({ name }) => ({ name, unit: 'ms', value: spread(timesOf(name)) }));
  const ratio = (ours: string, plain: string): number => median(timesOf(ours)) / median(timesOf(plain));
  return {
    title: `${kind}: ${(statSync(path).size / 1e6).toFixed(0)} MB, ${blocks.length} tensors`,
    rows: [...rows, { name: 'ratio of the last two', unit: '×', value: spread([ratio(CHECKED, PLAIN_CHECKED)]) }],
    claims: [atMost('checkpoint against plain reading', ratio(KEPT, PLAIN_KEPT), { limit: BAR, unit: '×' })],
  };
}

/** The same weights as torch saves them, in a folder of their own. */
function saveWithTorch(python: string, source: string, { folder, format }: { folder: string; format: string }): string {
  const target = join(folder, format);
  mkdirSync(target);
  execFileSync(python, ['-c', SAVE, join(source, 'model.safetensors'), join(target, 'pytorch_model.bin'), format]);
  return target;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { rounds: { type: 'string', default: '11' }, json: { type: 'string' } },
    allowPositionals: true,
  });
  if (positionals.length !== 1) throw new Error('expected one folder with model.safetensors');
  const source = resolve(positionals[0]);
  const python = process.env.LZERO_PYTHON;
  const scratch = mkdtempSync(join(tmpdir(), 'lzero-read-'));
  const where = await circumstances();
  console.log(`${describe(where)}\n${values.rounds} rounds by turns: median (least … most)`);
  try {
    const safe = join(scratch, 'safetensors');
    mkdirSync(safe);
    symlinkSync(join(source, 'model.safetensors'), join(safe, 'model.safetensors'));
    const folders: [string, string][] = [['model.safetensors', safe]];
    for (const format of python ? ['zip', 'legacy'] : [])
      folders.push([
        `pytorch_model.bin, ${format}`,
        saveWithTorch(String(python), source, { folder: scratch, format }),
      ]);
    const parts: Part[] = [];
    for (const [kind, folder] of folders) {
      parts.push(await part(kind, folder, Number(values.rounds)));
      printPart(parts[parts.length - 1]);
    }
    if (values.json) writeResults(values.json, where, parts);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

await main();
