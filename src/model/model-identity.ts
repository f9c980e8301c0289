/**
 * What a model is called by an index: sha256 over all that decides its vectors. Which vectors those are, and what they
 * are used for, others know.
 */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { CheckpointError, messageOf } from '../core/index.ts';
import type { BertConfig } from './bert-config.ts';
import { Checkpoint } from './checkpoint.ts';
import { FIRMNESS } from './firm-threshold.ts';
import type { Precision } from './int8/precision.ts';
import { quantisedTensors } from './int8/quantised-tensors.ts';
import { graphFiles } from './layouts/network-in.ts';
import { type ModelFolder, networkFile } from './model-folder.ts';
import type { ModelSettings } from './settings.ts';
import type { TensorToWrite } from './tensors/safetensors-writer.ts';

/**
 * sha256 over settings, network, tokenizer, query weights and the network's weights, at the precision that it is run with.
 * In int8 the codes count and not the file that they come from: a folder of codes is the model that its source is at int8;
 * one with tables in 4 bits is another, the same as it is with those tables in 8.
 */
export async function modelIdentity(model: ModelFolder, precision: Precision): Promise<string> {
  const hash = createHash('sha256');
  const { settings, config, idf, tokenizerFiles } = model;
  const isCodes = settings.kind === 'bert' && precision === 'int8';
  const decisive = decisiveSettings(settings);
  hash.update(
    JSON.stringify([isCodes ? ['int8', sorted(decisive)] : decisive, config && sizesOf(config), tokenizerFiles]),
  );
  hash.update(bytesOf(idf.values));
  if (settings.kind === 'bert') await hashCheckpoint(hash, model.encoderFolder, { withCodes: isCodes });
  if (!isCodes) for (const path of await networkFiles(model)) await hashFile(hash, path);
  return hash.digest('hex');
}

/** Names decide nothing, nor does how queries are made, which is not the document's business. */
function decisiveSettings(settings: ModelSettings): Readonly<Record<string, unknown>> {
  const { name: _name, source: _source, ...named } = settings;
  if (named.kind === 'bow') return named;
  const { queries: _queries, ...network } = named;
  if (network.kind === 'onnx') return network;
  const { precision: _precision, ...floats } = network;
  return floats;
}

/** Which words the files have for the network decides nothing. */
function sizesOf({ family: _, ...sizes }: BertConfig): Readonly<Record<string, unknown>> {
  return sizes;
}

/** By name: files of different layouts say the same things in different orders. */
function sorted(settings: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1));
}

async function networkFiles(model: ModelFolder): Promise<readonly string[]> {
  const path = await networkFile(model);
  if (path === undefined) return [];
  return model.settings.kind === 'onnx' ? await graphFiles(path) : [path];
}

/** What a topic head does with its thresholds, which is a number of ours and not of its file; and in int8 the codes. */
async function hashCheckpoint(
  hash: Hash,
  folder: string,
  { withCodes }: { readonly withCodes: boolean },
): Promise<void> {
  const checkpoint = await Checkpoint.open(folder);
  try {
    if (checkpoint.head === 'topic') hash.update(JSON.stringify({ firmness: FIRMNESS }));
    if (withCodes) await hashCodes(hash, checkpoint);
  } finally {
    await checkpoint.close();
  }
}

async function hashCodes(hash: Hash, checkpoint: Checkpoint): Promise<void> {
  const codes = { tables: '8bit', feedForward: '8bit' } as const;
  for await (const { name, dtype, shape, values } of quantisedTensors(checkpoint, codes)) {
    hash.update(JSON.stringify([name, dtype, shape]));
    hash.update(bytesOf(values));
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: TensorToWrite['values']): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Node's default of 64 KiB takes longer. */
const HASH_CHUNK_BYTES = 2 ** 20;

/** Adds the bytes of a file. The hash is Node's, but users' declarations must do without Node's types. */
export async function hashFile(hash: { update(bytes: Uint8Array): unknown }, path: string): Promise<void> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: HASH_CHUNK_BYTES })) hash.update(chunk);
  } catch (cause) {
    throw new CheckpointError(`cannot read ${path}: ${messageOf(cause)}`, {
      hint: 'the folder is not whole: fetch or save the model again',
      cause,
    });
  }
}
