/**
 * lzero as a contender (contender.ts): `tsx bench/lib/ours.ts MODEL [fp32|int8]`. Requests:
 *
 *     {"kind": "batches", "ids": FILE}                 encodes batches of token ids, [[ids, …], …] as JSON
 *     {"kind": "documents", "input": FILE}             encodes a JSON-lines file with model.encode()
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { documentTexts, readDocuments } from '../../src/data/index.ts';
import { loadModel } from '../../src/model/index.ts';
import { type FilterSwitch, NeuralEncoder } from '../../src/model/neural-encoder.ts';

const requestSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('batches'), ids: z.string() }),
  z.object({ kind: z.literal('documents'), input: z.string() }),
]);
const idsSchema = z.array(z.array(z.array(z.int())));

const [folder, chosen] = process.argv.slice(2);
const precision = chosen === 'int8' ? 'int8' : 'fp32';
const model = await loadModel(folder, { precision });
let encoder: NeuralEncoder | undefined;
const filterSwitch: FilterSwitch = { on: true };

type Measured = { readonly ms: number; readonly cpuMs: number; readonly activeTerms: number };

/** Starts a clock; what it gives tells the time since, on the wall and of the processors. */
function startClock(): () => Pick<Measured, 'ms' | 'cpuMs'> {
  const [start, before] = [performance.now(), process.cpuUsage()];
  return () => {
    const ms = performance.now() - start;
    const { user, system } = process.cpuUsage(before);
    return { ms, cpuMs: (user + system) / 1000 };
  };
}

/** Batches as they are, without tokenising or sorting: what PyTorch is given too. */
async function encodeBatches(path: string): Promise<Measured> {
  const { settings } = model;
  if (settings.kind !== 'bert') throw new Error(`${folder} has no network`);
  const { specialIds: droppedTerms, size } = model.tokenizer.vocabulary;
  encoder ??= await NeuralEncoder.open(folder, { ...settings, droppedTerms, numTerms: size }, { precision });
  const batches = idsSchema
    .parse(JSON.parse(readFileSync(path, 'utf8')))
    .map((batch) => batch.map((ids) => Int32Array.from(ids)));
  let [numTerms, numDocs] = [0, 0];
  const elapsed = startClock();
  for (const batch of batches) {
    for (const { terms } of await encoder.encodeBatch(batch, filterSwitch)) numTerms += terms.length;
    numDocs += batch.length;
  }
  return { ...elapsed(), activeTerms: numTerms / numDocs };
}

async function encodeDocuments(input: string): Promise<Measured> {
  let [numTerms, numDocs] = [0, 0];
  const elapsed = startClock();
  for await (const { vector } of model.encode(documentTexts(readDocuments(input)))) {
    numTerms += vector.terms.length;
    numDocs++;
  }
  return { ...elapsed(), activeTerms: numTerms / numDocs };
}

console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const request = requestSchema.parse(JSON.parse(line));
  const answer = request.kind === 'batches' ? await encodeBatches(request.ids) : await encodeDocuments(request.input);
  console.log(JSON.stringify(answer));
}
await encoder?.close();
await model.close();
