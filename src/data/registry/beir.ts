/**
 * The 13 BEIR sets of the paper, and MS MARCO in the same form. Checksums are those of BEIR's list of datasets
 * (https://github.com/beir-cellar/beir/wiki/Datasets-available); numbers are of documents and of judged queries in the
 * split. Licences as the BEIR paper lists them (https://arxiv.org/abs/2104.08663, appendix on licences).
 */
import type { RegisteredCollection } from './types.ts';

const BASE = 'https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets';
const NOT_STATED = 'not stated by its publishers';

type Row = Omit<RegisteredCollection, 'name' | 'split' | 'metric' | 'dropIdenticalIds' | 'source'> & {
  /** Of the archive, without .zip. */
  readonly archive: string;
  readonly md5: string;
};

function beir({ archive, md5, ...row }: Row): RegisteredCollection {
  return {
    name: `beir/${archive}`,
    split: 'test',
    metric: 'ndcg@10',
    dropIdenticalIds: DROPS_IDENTICAL.includes(archive),
    ...row,
    source: { kind: 'zip', archive: { base: BASE, path: `${archive}.zip`, checksum: { kind: 'md5', hex: md5 } } },
  };
}

/**
 * Their queries stand in the corpus under their own ids. BEIR's code drops equal ids everywhere; in the other sets an
 * equal id, if there is one, is chance, and the document may be relevant.
 */
const DROPS_IDENTICAL = ['arguana', 'quora'];

/** In the order of the paper's table. */
export const BEIR_COLLECTIONS: readonly RegisteredCollection[] = [
  beir({
    archive: 'trec-covid',
    about: 'articles on COVID-19, for questions of researchers',
    numDocs: 171_332,
    numQueries: 50,
    licence: 'dataset license agreement of CORD-19',
    md5: 'ce62140cb23feb9becf6270d0d1fe6d1',
  }),
  beir({
    archive: 'nfcorpus',
    about: 'medical abstracts, for questions on nutrition in plain words',
    numDocs: 3_633,
    numQueries: 323,
    licence: NOT_STATED,
    md5: 'a89dba18a62ef92f7d323ec890a0d38d',
  }),
  beir({
    archive: 'nq',
    about: 'Wikipedia passages, for questions typed into a web search',
    numDocs: 2_681_468,
    numQueries: 3_452,
    licence: 'CC BY-SA 3.0',
    md5: 'd4d3d2e48787a744b6f6e691ff534307',
  }),
  beir({
    archive: 'hotpotqa',
    about: 'Wikipedia introductions, for questions that need two of them',
    numDocs: 5_233_329,
    numQueries: 7_405,
    licence: 'CC BY-SA 4.0',
    md5: 'f412724f78b0d91183a0e86805e16114',
  }),
  beir({
    archive: 'fiqa',
    about: 'forum posts on money, for questions on money',
    numDocs: 57_638,
    numQueries: 648,
    licence: NOT_STATED,
    md5: '17918ed23cd04fb15047f73e6c3bd9d9',
  }),
  beir({
    archive: 'arguana',
    about: 'arguments of debates, for the best argument against a given one',
    numDocs: 8_674,
    numQueries: 1_406,
    licence: 'CC BY 4.0',
    md5: '8ad3e3c2a5867cdced806d6503f29b99',
  }),
  beir({
    archive: 'webis-touche2020',
    about: 'arguments of debates, for controversial questions',
    numDocs: 382_545,
    numQueries: 49,
    licence: 'CC BY 4.0',
    md5: '46f650ba5a527fc69e0a6521c5a23563',
  }),
  beir({
    archive: 'dbpedia-entity',
    about: 'entities of Wikipedia, for short descriptions of them',
    numDocs: 4_635_922,
    numQueries: 400,
    licence: 'CC BY-SA 3.0',
    md5: 'c2a39eb420a3164af735795df012ac2c',
  }),
  beir({
    archive: 'scidocs',
    about: 'scientific abstracts, for the title of a paper that cites them',
    numDocs: 25_657,
    numQueries: 1_000,
    licence: 'GPL-3.0',
    md5: '38121350fc3a4d2f48850f6aff52e4a9',
  }),
  beir({
    archive: 'fever',
    about: 'Wikipedia introductions, for claims that they support or refute',
    numDocs: 5_416_568,
    numQueries: 6_666,
    licence: 'CC BY-SA 3.0',
    md5: '5a818580227bfb4b35bb6fa46d9b6c03',
  }),
  beir({
    archive: 'climate-fever',
    about: 'Wikipedia introductions, for claims on climate change',
    numDocs: 5_416_593,
    numQueries: 1_535,
    licence: NOT_STATED,
    md5: '8b66f0a9126c521bae2bde127b4dc99d',
  }),
  beir({
    archive: 'scifact',
    about: 'scientific abstracts, for claims that they support or refute',
    numDocs: 5_183,
    numQueries: 300,
    licence: 'CC BY-NC 2.0',
    md5: '5f7d1de60b170fc8027bb7898e2efca1',
  }),
  beir({
    archive: 'quora',
    about: 'questions, for another question that asks the same',
    numDocs: 522_931,
    numQueries: 10_000,
    licence: NOT_STATED,
    md5: '18fb154900ba42a600f84b839c173167',
  }),
];

/** MS MARCO passage ranking: the 6,980 queries of dev small, reported by MRR@10. */
export const MS_MARCO: RegisteredCollection = {
  ...beir({
    archive: 'msmarco',
    about: 'passages of web pages, for questions typed into a web search',
    numDocs: 8_841_823,
    numQueries: 6_980,
    licence: 'for non-commercial research',
    md5: '444067daf65d982533ea17ebd59501e4',
  }),
  name: 'msmarco',
  split: 'dev',
  metric: 'mrr@10',
};
