/** lzero: inference-free learned sparse retrieval. */
export type { DocumentToEncode, EncodedDocument, EncodeOptions, Model } from './model/index.ts';
export { loadModel } from './model/index.ts';
