/** Documents in, terms out: the step between words in order and a segment. */
import { InputError } from '../../core/index.ts';
import type { ByteSink, SegmentSummary } from '../types.ts';
import { compareBytes } from './dictionary.ts';
import { lengthToByte } from './length-byte.ts';
import { SegmentWriter } from './segment-writer.ts';

/** Postings of all documents, in their order; each is a term's number and how often the document has it. */
type Postings = {
  readonly terms: readonly string[];
  /** For each document the end of its postings. */
  readonly docEnds: Uint32Array;
  readonly termIds: Uint32Array;
  readonly tfs: Uint32Array;
};

/** Writes one segment of these documents. */
export function writeSegment(documents: readonly (readonly string[])[], sink: ByteSink): SegmentSummary {
  const lengths = Uint8Array.from(documents, (words) => lengthToByte(words.length));
  const postings = countWords(documents);
  const { starts, docs, tfs } = byTerm(postings);
  const writer = new SegmentWriter(lengths, sink);
  for (const { bytes, id } of sortedTerms(postings.terms)) {
    const [from, to] = [starts[id], starts[id + 1]];
    writer.add(bytes, { docs: docs.subarray(from, to), tfs: tfs.subarray(from, to), count: to - from });
  }
  return writer.finish();
}

function countWords(documents: readonly (readonly string[])[]): Postings {
  const numWords = documents.reduce((sum, words) => sum + words.length, 0);
  const ids = new Map<string, number>();
  const docEnds = new Uint32Array(documents.length);
  const termIds = new Uint32Array(numWords);
  const tfs = new Uint32Array(numWords);
  const lastPosting: number[] = []; // of each term
  let count = 0;
  documents.forEach((words, doc) => {
    const first = count;
    for (const word of words) {
      let id = ids.get(word);
      if (id === undefined) {
        id = ids.size;
        ids.set(word, id);
        lastPosting.push(-1);
      }
      if (lastPosting[id] < first) {
        lastPosting[id] = count;
        termIds[count++] = id;
      }
      tfs[lastPosting[id]]++;
    }
    docEnds[doc] = count;
  });
  return { terms: [...ids.keys()], docEnds, termIds: termIds.subarray(0, count), tfs: tfs.subarray(0, count) };
}

/** A counting sort by term; documents of a term stay in their order. */
function byTerm({ terms, docEnds, termIds, tfs }: Postings) {
  const starts = new Uint32Array(terms.length + 1);
  for (const id of termIds) starts[id + 1]++;
  for (let id = 0; id < terms.length; id++) starts[id + 1] += starts[id];
  const next = starts.slice();
  const sorted = { docs: new Uint32Array(termIds.length), tfs: new Uint32Array(termIds.length) };
  for (let doc = 0, i = 0; doc < docEnds.length; doc++) {
    for (; i < docEnds[doc]; i++) {
      const at = next[termIds[i]]++;
      sorted.docs[at] = doc;
      sorted.tfs[at] = tfs[i];
    }
  }
  return { starts, ...sorted };
}

/** Terms in the order of their bytes, with the numbers they have here. */
function sortedTerms(terms: readonly string[]): { readonly bytes: Uint8Array; readonly id: number }[] {
  const encoder = new TextEncoder();
  const entries = terms.map((term, id) => {
    if (/\p{Surrogate}/u.test(term)) throw new InputError(`the word ${JSON.stringify(term)} is not Unicode text`);
    return { bytes: encoder.encode(term), id };
  });
  return entries.sort((a, b) => compareBytes(a.bytes, b.bytes));
}
