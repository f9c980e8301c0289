/** The embedded collection as an index in Node and as a site of the same index, for tests that hold one to the other. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Random } from '../../src/core/index.ts';
import { createIndex, type EngineDocument, type Index, openIndex } from '../../src/engines/index.ts';
import { loadModel } from '../../src/model/index.ts';
import { bytesSource } from '../../src/search/index.ts';
import { pagesOfIndex, readScripts, type SiteContent, type SiteFiles, siteFiles } from '../../src/site/index.ts';

const COLLECTION = resolve(import.meta.dirname, '../../collections/everyday');
/** Documents that are made the parts of one page: hits are pages, and some pages have several parts. */
const PARTS = 3;

function linesOf(name: string): Record<string, string>[] {
  const lines = readFileSync(join(COLLECTION, name), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}

/** The queries of the collection. */
export function everydayQueries(): string[] {
  return linesOf('queries.jsonl').map(({ text }) => text);
}

/** Documents with weights of their own words that differ, from a fixed seed: the bag of words would have many ties. */
async function weighedDocuments(): Promise<EngineDocument[]> {
  const model = await loadModel('bow');
  const documents: EngineDocument[] = [];
  const random = new Random(11);
  for (const [i, { _id, title, text }] of linesOf('corpus.jsonl').entries()) {
    const page = `page-${Math.floor(i / PARTS)}.html`;
    const chunk = i % PARTS;
    const vector: Record<string, number> = {};
    for (const token of model.tokenizer.tokens(`${title} ${text}`)) vector[token] = 0.05 + random.uniform();
    documents.push({
      id: `${page}#${chunk}`,
      title: chunk === 0 ? `Page ${Math.floor(i / PARTS)}` : `Page ${Math.floor(i / PARTS)} › ${title}`,
      text,
      url: chunk === 0 ? `/${page}` : `/${page}#${_id}`,
      page,
      chunk,
      fields: { shelf: `shelf ${Math.floor(i / PARTS) % 4}` },
      vector,
    });
  }
  await model.close();
  return documents;
}

/** Makes the index in a folder that is not there. */
export async function makeEverydayIndex(folder: string): Promise<Index> {
  const model = await loadModel('bow');
  const index = await createIndex(folder, { model, fields: { shelf: 'keyword' }, maxWeight: 1.05 });
  await index.add(await weighedDocuments());
  await index.commit();
  await index.close();
  await model.close();
  return await openIndex(folder);
}

/** The same as the content of a site. */
export function contentOfIndex(index: Index): SiteContent {
  const { querySide } = index.language;
  const { scale } = index.settings;
  if (!querySide || scale === null) throw new Error('not an index of vectors');
  return {
    pages: pagesOfIndex(index, {}),
    segment: bytesSource(index.mergedPostings(), 'postings'),
    side: querySide,
    scale,
  };
}

/** The site of an index, with the scripts that `npm run build` made. */
export async function siteOfIndex(index: Index): Promise<SiteFiles> {
  return siteFiles(contentOfIndex(index), await readScripts());
}
