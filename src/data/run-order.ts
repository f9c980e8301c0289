/**
 * The order of a ranking as trec_eval 9.0.8 has it (form_res_rels.c, comp_sim_docno): descending score, equal scores by
 * descending document id. Ranks written in run files are ignored, there and here.
 *
 * Two things are easily missed. Scores are kept as 32-bit floats (trec_format.h, `float sim`), so scores that differ
 * less than that are equal. And ids are compared byte by byte as UTF-8, which is the order of code points; JavaScript's
 * `<` goes by UTF-16 units and puts U+10000 before U+FFFD.
 */

/** A document found, and how well it fits. */
export type Hit = {
  readonly id: string;
  readonly score: number;
};

/** Compares hits as trec_eval does: negative where `a` ranks before `b`. */
export function compareHits(a: Hit, b: Hit): number {
  return Math.fround(b.score) - Math.fround(a.score) || compareCodePoints(b.id, a.id);
}

/** The hits in trec_eval's order, as a new list. */
export function rankHits(hits: readonly Hit[]): Hit[] {
  return [...hits].sort(compareHits);
}

/** Compares strings by code points, as C's strcmp does their UTF-8. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return codePointRank(x) - codePointRank(y);
  }
  return a.length - b.length;
}

/** A UTF-16 unit in the order of the code points it may begin: surrogates stand for U+10000 and above. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
