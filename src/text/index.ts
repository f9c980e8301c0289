/** Text to term ids to sparse query vectors: tokenizer, vocabulary, IDF tables, query encoder, compact query side. */
export type { BertNormalization } from './bert-normalizer.ts';
export type { TokenizerSource } from './create-tokenizer.ts';
export { createTokenizer } from './create-tokenizer.ts';
export type { IdfTable } from './idf.ts';
export { blendIdf, formatIdf, IdfCounter, noIdf, parseIdf } from './idf.ts';
export type { EncodedQuery, QuerySide, QueryTerm } from './query.ts';
export { encodeQuery } from './query.ts';
export type { DecodedQuerySide, Numbering } from './query-side.ts';
export { decodeQuerySide, encodeQuerySide, renumber } from './query-side.ts';
export type { ModelInput, SpecialTokenFrame, Tokenizer, WordPieceParts } from './tokenizer.ts';
export { wordPieceTokenizer } from './tokenizer.ts';
export { BERT_SPECIAL_TOKENS, parseVocabTxt, Vocabulary } from './vocabulary.ts';
export type { WordPieceSettings } from './wordpiece.ts';
export { BERT_UNCASED } from './wordpiece.ts';
