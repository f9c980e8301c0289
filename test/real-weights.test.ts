/** Real checkpoints: what transformers computes with them, we compute (scripts/golden-model.py --real), and search works. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scifactSpladeTiny } from '../runs/scifact-splade-tiny.ts';
import { byWeight } from '../src/core/index.ts';
import { documentTexts, readDocuments } from '../src/data/index.ts';
import { GraphBuilder, linear } from '../src/graph/index.ts';
import { bertEncoder, mlmTransform } from '../src/model/bert-graph.ts';
import { GraphRunner } from '../src/model/graph-runner.ts';
import { Checkpoint, importModel, loadModel } from '../src/model/index.ts';
import { collect, encodeAll, floatsOf, goldenReal, needs, realWeights } from './golden/model/fixtures.ts';
import { sharedData } from './golden/text/fixtures.ts';

const MINUTES = 60_000;

const bertBase = realWeights('bert-base-mlm');
describe.skipIf(!bertBase)(needs('bert-base-mlm'), () => {
  const folder = bertBase ?? '';

  it(
    'predicts [MASK] as transformers does: "The capital of France is [MASK]." paris 0.417, within 1e-4',
    async () => {
      const { text, predictions } = goldenReal.masked;
      const { tokenizer } = await loadModel(folder);
      const { ids } = tokenizer.encodeForModel(text, 512);
      const position = ids.indexOf(tokenizer.vocabulary.idOf('[MASK]') ?? -1);
      const logits = (await mlmLogits(folder, ids)).subarray(position * tokenizer.vocabulary.size);
      const p = softmax(logits.subarray(0, tokenizer.vocabulary.size));
      const best = Array.from(p.keys()).sort((a, b) => p[b] - p[a]);
      expect(predictions[0][0]).toBe('paris');
      predictions.forEach(([token, probability], rank) => {
        expect(tokenizer.vocabulary.tokens[best[rank]]).toBe(token);
        expect(Math.abs(p[best[rank]] - probability)).toBeLessThan(1e-4);
      });
    },
    MINUTES,
  );

  it(
    'gives the pooled vectors of transformers within 1e-4: 3 texts, k = 0, 512 tokens',
    async () => {
      const model = await loadModel(folder);
      const encoded = await encodeAll(
        model,
        goldenReal.pooled.map(({ text }) => text),
      );
      await model.close();
      const { tokens } = model.tokenizer.vocabulary;
      goldenReal.pooled.forEach(({ numActive, numUndecided, sum, top }, i) => {
        const { vector } = encoded[i];
        expect(Math.abs(vector.terms.length - numActive)).toBeLessThanOrEqual(numUndecided);
        const total = vector.weights.reduce((a, b) => a + b, 0);
        expect(Math.abs(total - sum) / numActive).toBeLessThan(1e-5); // the mean weight
        const order = byWeight(vector);
        top.forEach(([token, weight], rank) => {
          expect(Math.abs(vector.weights[order[rank]] - weight)).toBeLessThan(1e-4);
          const at = vector.terms.indexOf(tokens.indexOf(token));
          expect(Math.abs(vector.weights[at] - weight)).toBeLessThan(1e-4);
        });
      });
    },
    2 * MINUTES,
  );
});

/** MLM logits of every position, [T, V]. */
async function mlmLogits(folder: string, ids: Int32Array): Promise<Float32Array> {
  const checkpoint = await Checkpoint.open(folder);
  const runner = await GraphRunner.start(checkpoint);
  const g = new GraphBuilder('mlm');
  const parameters = runner.parameters(g);
  const { config } = checkpoint;
  const u = mlmTransform(g, bertEncoder(g, config, parameters).hidden, { config, parameters });
  const [weight, bias] = [parameters(checkpoint.decoderName), parameters(checkpoint.decoderBiasName)];
  g.output('logits', linear(g, u, { weight, bias }));
  await runner.load(g);
  const { logits } = await runner.run([ids]);
  await runner.close();
  await checkpoint.close();
  return floatsOf(logits);
}

function softmax(logits: Float32Array): Float64Array {
  const largest = logits.reduce((a, b) => Math.max(a, b));
  const powers = Float64Array.from(logits, (x) => Math.exp(x - largest));
  const total = powers.reduce((a, b) => a + b, 0);
  return powers.map((x) => x / total);
}

const spladeTiny = realWeights('splade-tiny');
describe.skipIf(!spladeTiny || !sharedData)(needs('splade-tiny', { data: true }), () => {
  it(
    'finds on SciFact as published: NDCG@10 0.633 ± 0.003 at 248 ± 2 terms a document',
    async () => {
      const result = await scifactSpladeTiny({ data: sharedData ?? '', checkpoint: spladeTiny ?? '' });
      expect(result).toMatchObject({ numDocs: 5183, numQueries: 300 });
      expect(Math.abs(result.ndcg10 - 0.633)).toBeLessThanOrEqual(0.003);
      expect(Math.abs(result.meanTerms - 248)).toBeLessThanOrEqual(2);
    },
    10 * MINUTES,
  );
});

const miniLm = realWeights('minilm-l6');
describe.skipIf(!miniLm || !sharedData)(needs('minilm-l6', { data: true }), () => {
  it(
    'with a tied head, imported and encoded twice: same weights, 100 SciFact documents of the same bits',
    async () => {
      const scratch = mkdtempSync(join(tmpdir(), 'lzero-minilm-'));
      const documents = await firstDocuments(100);
      const encodeAfresh = async (output: string) => {
        await importModel({
          source: miniLm ?? '',
          output,
          head: 'tied',
          calibration: documents.map(({ text }) => text),
        });
        const model = await loadModel(output);
        const encoded = await collect(model.encode(documents));
        await model.close();
        return { encoded, identity: await model.identity() };
      };
      const first = await encodeAfresh(join(scratch, 'first'));
      const second = await encodeAfresh(join(scratch, 'second'));
      rmSync(scratch, { recursive: true });
      expect(second).toEqual(first);
      const meanTerms = first.encoded.reduce((sum, { vector }) => sum + vector.terms.length, 0) / documents.length;
      expect(Math.abs(meanTerms - 200)).toBeLessThan(50); // calibrated to 200 on them, cut to 256 tokens
    },
    10 * MINUTES,
  );
});

async function firstDocuments(count: number): Promise<{ id: string; text: string }[]> {
  const documents: { id: string; text: string }[] = [];
  const all = readDocuments(join(sharedData ?? '', 'collections/beir/scifact'));
  for await (const document of documentTexts(all)) {
    documents.push(document);
    if (documents.length === count) break;
  }
  return documents;
}
