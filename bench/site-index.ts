/**
 * The parts of a site as an index in Node, with the vectors that `lzero site build` has remembered: what pages in a browser are
 * held against (test/browser/site-docs.test.ts), without encoding anything twice.
 *
 *     lzero site build PAGES -o SITE --cache CACHE
 *     npx tsx bench/site-index.ts PAGES -o INDEX --cache CACHE [--model M]
 */
import { parseArgs } from 'node:util';
import { countingOf } from '../src/data/index.ts';
import { createIndex, type EngineDocument } from '../src/engines/index.ts';
import { loadModel } from '../src/model/index.ts';
import { readSite, type SitePage } from '../src/site/index.ts';
import { openScorer, type Scorer } from '../src/teach/index.ts';
import { documentText } from '../src/text/index.ts';

/** Parts whose vectors are in memory at once. */
const GROUP = 512;
/** What `lzero site build` takes for models that read texts of any length. */
const DEFAULT_CHUNK_TOKENS = 256;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    output: { type: 'string', short: 'o' },
    cache: { type: 'string' },
    model: { type: 'string' },
  },
});
const [input] = positionals;
const { output, cache } = values;
if (input === undefined || output === undefined || cache === undefined)
  throw new Error('usage: npx tsx bench/site-index.ts PAGES -o INDEX --cache CACHE');

function documentsOf({ id, url, parts }: SitePage): EngineDocument[] {
  return parts.map(({ title, text, anchor }, chunk) => ({
    id: `${id}#${chunk}`,
    page: id,
    chunk,
    title,
    text,
    url: `${url}${anchor}`,
  }));
}

async function* encoded(
  pages: readonly SitePage[],
  vectorsOf: NonNullable<Scorer['vectorsOf']>,
): AsyncGenerator<EngineDocument> {
  const documents = pages.flatMap(documentsOf);
  for (let at = 0; at < documents.length; at += GROUP) {
    const group = documents.slice(at, at + GROUP);
    const texts = group.map(({ title = '', text = '' }) => documentText({ title, text }));
    const vectors = await vectorsOf(texts);
    for (const [i, document] of group.entries()) yield { ...document, vector: vectors[i] };
  }
}

const model = await loadModel(values.model);
const reads = 'encodeLength' in model.settings ? model.settings.encodeLength : DEFAULT_CHUNK_TOKENS;
const { pages } = await readSite(input, { chunk: { ...countingOf(model.tokenizer), maxTokens: reads } });
const scorer = await openScorer({ model: model.folder, kind: 'sparse' }, { folder: cache });
if (scorer.vectorsOf === undefined) throw new Error('a site is encoded by a sparse model');
const index = await createIndex(output, { model, writer: { log: false } });
await index.add(encoded(pages, scorer.vectorsOf));
await index.commit();
await index.merge();
const { store } = await index.stats();
console.log(`${output}: ${pages.length} pages, ${store.numDocs} parts`);
await index.close();
await scorer.close();
await model.close();
