/**
 * NanoBEIR: 13 sets of about 50 queries and a few thousand documents each, drawn from BEIR by Zeta Alpha
 * (https://huggingface.co/collections/zeta-alpha-ai/nanobeir-66e1a0af21dfd93e620cd9f6), published as Parquet. Checksums
 * as ir_datasets records them (etc/downloads.json), numbers of documents as MTEB counts them. Every judgement is 1.
 */
import type { RegisteredCollection, SourceFile } from './types.ts';

const BASE = 'https://huggingface.co/datasets';

/** MD5 and size of one file. */
type Known = readonly [md5: string, sizeBytes: number];

/** Name there, name here (that of the BEIR set), documents, queries, then the three files. */
type Row = readonly [hub: string, name: string, numDocs: number, numQueries: number, Known, Known, Known];

const ROWS: readonly Row[] = [
  [
    'NanoClimateFEVER',
    'climate-fever',
    3_408,
    50,
    ['97a57296bbb7e48ffc8b763c4b2a188b', 3_331_342],
    ['0f4d43544ae8755e0557f89be3ae7e74', 7_569],
    ['3042ccd6054266951ac1338c57a2bb85', 3_770],
  ],
  [
    'NanoDBPedia',
    'dbpedia-entity',
    6_045,
    50,
    ['cee2bc11f2b84fe636b5f219246221e0', 1_479_972],
    ['ec7d771ba38310699a5b323aa693febe', 3_546],
    ['8a9fa7e95c276d810ddbb53b8054801d', 23_171],
  ],
  [
    'NanoFEVER',
    'fever',
    4_996,
    50,
    ['0b052fca4b4c975088bc2f01d7f2b749', 3_930_640],
    ['43122d82b3df866afad1f37a28e6ba60', 3_881],
    ['a25763bbae313d39668c37dbadb70cd3', 2_730],
  ],
  [
    'NanoFiQA2018',
    'fiqa',
    4_598,
    50,
    ['873e5dcf7920fc8c0ff210cf06907607', 2_532_554],
    ['8b25da8b2d2e40a483d7a782a048a950', 4_249],
    ['f22d89ef6658379498bc92e92cf92d26', 2_631],
  ],
  [
    'NanoHotpotQA',
    'hotpotqa',
    5_090,
    50,
    ['da3d14375223d0e5dad172acdbb1c332', 1_247_690],
    ['c1f13d4ed9f88a89285e39d9e13f5c38', 6_431],
    ['3ed8424185156af1fe4c55aac84bce92', 3_424],
  ],
  [
    'NanoMSMARCO',
    'msmarco',
    5_043,
    50,
    ['15ab2a1d3674e562d088e64dc5781373', 1_115_821],
    ['9ab46c94f88bfed1e338dc0887568f03', 3_219],
    ['c72caacf4bc04efa8af6b2ac2944ea92', 2_095],
  ],
  [
    'NanoNFCorpus',
    'nfcorpus',
    2_953,
    50,
    ['deb02538a3b030843a8ccca212dc6a3c', 2_462_576],
    ['6578fc992124bb997e32bd1192c1b475', 2_786],
    ['402762544651e0fc6df10cd76e2cbfae', 16_342],
  ],
  [
    'NanoNQ',
    'nq',
    5_035,
    50,
    ['aaf73189d2b8d0de039dc2619d7a29ef', 1_776_094],
    ['87de29b17a669fc61d1f192bd5099887', 3_658],
    ['fc2b183187c4f99e0939b55dc11b1908', 2_020],
  ],
  [
    'NanoQuoraRetrieval',
    'quora',
    5_046,
    50,
    ['a8cd6d41cbeb6bda2a3ed90526de4521', 229_172],
    ['590ed67697e12f21fafe436c07e6f772', 3_918],
    ['650ca21cef9a73b83e3845c93e3a230a', 2_266],
  ],
  [
    'NanoSCIDOCS',
    'scidocs',
    2_210,
    50,
    ['60f9f2a7206f0e8a0fc185df2b7ab00b', 1_271_482],
    ['940e2220bc9667138774a36f6c771c97', 6_874],
    ['e21c1514761b06ac6bba5a8f958d8803', 14_043],
  ],
  [
    'NanoArguAna',
    'arguana',
    3_635,
    50,
    ['ee563dc09a91032b494f469b6c807a9c', 2_207_566],
    ['5ad0a26fad750dc74eae00ab753731b8', 45_590],
    ['5fab96653b0455879606e82071ef4b21', 3_439],
  ],
  [
    'NanoSciFact',
    'scifact',
    2_919,
    50,
    ['9f82bfc70f9b7d7f0275fb6b8ee38876', 2_408_011],
    ['0218d8ad9c0bd8671002f16edb497ff3', 5_482],
    ['1155d79cf3854fa43c72c8458f34f744', 2_082],
  ],
  [
    'NanoTouche2020',
    'webis-touche2020',
    5_745,
    49,
    ['fdea27196d1234ab4aa2c49c9a849840', 7_265_307],
    ['0ba668cdae413f411644871f544a9d1b', 3_348],
    ['4b3de9c60d59be85ae4483e1210caff9', 17_746],
  ],
];

/** The 13 sets. */
export const NANOBEIR_COLLECTIONS: readonly RegisteredCollection[] = ROWS.map(
  ([hub, name, numDocs, numQueries, corpus, queries, qrels]) => ({
    name: `nanobeir/${name}`,
    about: `a sample of ${name === 'msmarco' ? 'MS MARCO' : `beir/${name}`}`,
    split: 'test',
    numDocs,
    numQueries,
    metric: 'ndcg@10',
    dropIdenticalIds: name === 'arguana' || name === 'quora',
    licence: 'CC BY 4.0 as its publishers say, and that of the set it is drawn from',
    source: {
      kind: 'parquet',
      corpus: hubFile(hub, 'corpus', corpus),
      queries: hubFile(hub, 'queries', queries),
      qrels: hubFile(hub, 'qrels', qrels),
    },
  }),
);

function hubFile(hub: string, part: string, [md5, sizeBytes]: Known): SourceFile {
  const path = `zeta-alpha-ai/${hub}/resolve/main/${part}/train-00000-of-00001.parquet`;
  return { base: BASE, path, checksum: { kind: 'md5', hex: md5 }, sizeBytes };
}
