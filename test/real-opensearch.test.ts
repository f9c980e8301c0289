/** SciFact by a trained model, on a real server: opt-in, it needs the collection, the weights and a server. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Collection, openCollection } from '../src/data/index.ts';
import { createIndex, type Engine } from '../src/engines/index.ts';
import { engineSystem, evaluateRun, runSystem } from '../src/eval/index.ts';
import { loadModel, type Model } from '../src/model/index.ts';
import {
  checkParity,
  createOpenSearchIndex,
  openOpenSearchIndex,
  type ParityDocument,
  type ParityReport,
} from '../src/opensearch/index.ts';
import { documentText } from '../src/text/index.ts';
import { freshName, realServer, removeIndexes, SERVER_URL } from './opensearch/real-server.ts';

const { LZERO_SHARED_DATA: data, LZERO_WEIGHTS: weights } = process.env;
const canRun = data !== undefined && weights !== undefined && SERVER_URL !== undefined;
const needs = canRun ? '' : ' (skipped: needs LZERO_SHARED_DATA, LZERO_WEIGHTS and LZERO_OPENSEARCH)';

/** Encoding SciFact takes a minute on two cores, several on busy ones. */
const WORK_MS = 5_400_000;

describe.skipIf(!canRun)(`SciFact by splade-tiny on OpenSearch${needs}`, { timeout: WORK_MS }, () => {
  let folder: string;
  let collection: Collection;
  let model: Model;
  const documents: ParityDocument[] = [];
  const engines: Engine[] = [];
  const ndcg = new Map<Engine, number>();
  const best = new Map<Engine, ReadonlyMap<string, readonly string[]>>();

  async function measured(engine: Engine): Promise<Engine> {
    const { run } = await runSystem(engineSystem(engine, { name: 'x', id: 'x' }), collection, { k: 10 });
    const { mean } = evaluateRun(run, collection.qrels, { metrics: ['ndcg@10'], averageOver: 'judged' });
    ndcg.set(engine, mean['ndcg@10']);
    best.set(engine, new Map([...run].map(([query, hits]) => [query, hits.map(({ id }) => id)])));
    engines.push(engine);
    return engine;
  }

  function overlap(a: Engine, b: Engine): number {
    const [ours, theirs] = [best.get(a) ?? new Map(), best.get(b) ?? new Map()];
    const shares = [...ours].map(([query, ids]) => {
      const others = new Set(theirs.get(query));
      return ids.filter((id: string) => others.has(id)).length / Math.max(1, ids.length);
    });
    return shares.reduce((sum, share) => sum + share, 0) / shares.length;
  }

  let embedded: Engine;
  let exact: Engine;
  let twoPhase: Engine;
  let report: ParityReport;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lzero-real-opensearch-'));
    collection = await openCollection(join(data ?? '', 'collections/beir/scifact'));
    model = await loadModel(join(weights ?? '', 'splade-tiny'), {
      encodeLength: 256,
      idf: join(data ?? '', 'idf.json'),
    });
    const texts: { id: string; text: string }[] = [];
    for await (const document of collection.documents()) texts.push({ id: document.id, text: documentText(document) });
    for await (const { id, vector } of model.encode(texts)) documents.push({ id, vector });

    const index = await createIndex(join(folder, 'index'), { model, writer: { log: false } });
    await index.add(documents);
    await index.commit();
    embedded = await measured(index);
    const name = freshName();
    const served = await createOpenSearchIndex(realServer(), name, { model });
    await served.add(documents);
    await served.commit();
    exact = await measured(served);
    twoPhase = await measured(await openOpenSearchIndex(realServer(), name, { model, query: { twoPhase: true } }));
    const queries = collection.queries.map(({ id, text }) => ({ id, query: text, ...model.encodeQuery(text) }));
    report = await checkParity(served, { queries, documents });
    const figures = {
      embedded: ndcg.get(embedded),
      exact: ndcg.get(exact),
      twoPhase: ndcg.get(twoPhase),
      overlapWithU8: overlap(exact, embedded),
      overlapWithFloats: report.overlap,
      largestError: report.error.max,
    };
    console.log(JSON.stringify(figures));
  }, WORK_MS);
  afterAll(async () => {
    for (const engine of engines) await engine.close();
    await model?.close();
    await removeIndexes();
    await rm(folder, { recursive: true });
  });

  it('has the NDCG@10 of the embedded index within 0.003', () => {
    expect(Math.abs((ndcg.get(exact) ?? 0) - (ndcg.get(embedded) ?? 1))).toBeLessThanOrEqual(0.003);
  });

  it('in two phases within 0.005', () => {
    expect(Math.abs((ndcg.get(twoPhase) ?? 0) - (ndcg.get(embedded) ?? 1))).toBeLessThanOrEqual(0.005);
  });

  it('shares at least 0.98 of the ten best with the embedded index of 8 bits', () => {
    expect(overlap(exact, embedded)).toBeGreaterThanOrEqual(0.98);
  });

  it('shares at least 0.995 of the ten best with local scores in floats, and every difference is explained', () => {
    expect(report.overlap).toBeGreaterThanOrEqual(0.995);
    expect(report).toMatchObject({ numUnexplained: 0, isWithinBounds: true });
  });
});
