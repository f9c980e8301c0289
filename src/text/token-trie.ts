/**
 * A trie over UTF-16 units that finds the longest token at a position. Its edges live in one open-addressing hash table
 * of typed arrays: no string is cut, hashed or kept while text is tokenised, so there is no cache to bound.
 */

const NO_TOKEN = -1;
const ROOT = 0;

/** Longest-match lookup of tokens inside a buffer of UTF-16 units. */
export class TokenTrie {
  readonly #tokenAt: Int32Array; //  token id that ends at a node, or NO_TOKEN
  readonly #parents: Int32Array; //  edge table: node the edge leaves, −1 where the slot is empty
  readonly #units: Uint16Array; //   edge table: unit on the edge
  readonly #children: Int32Array; // edge table: node the edge reaches
  readonly #shift: number;
  #numNodes = 1;
  /** Length in units of the match that `longest` found last. */
  matchLength = 0;

  /** @param entries texts and their ids; an empty text is never found */
  constructor(entries: readonly (readonly [text: string, id: number])[]) {
    const maxNodes = entries.reduce((sum, [text]) => sum + text.length, 1);
    const slotBits = Math.max(4, Math.ceil(Math.log2(maxNodes * 2)));
    this.#shift = 32 - slotBits;
    this.#tokenAt = new Int32Array(maxNodes).fill(NO_TOKEN);
    this.#parents = new Int32Array(2 ** slotBits).fill(-1);
    this.#units = new Uint16Array(2 ** slotBits);
    this.#children = new Int32Array(2 ** slotBits);
    for (const [text, id] of entries) this.#insert(text, id);
  }

  /** The id of the longest token that `units[start…end)` begins with, or −1; its length goes to `matchLength`. */
  longest(units: Uint16Array, start: number, end: number): number {
    let found = NO_TOKEN;
    for (let node = ROOT, at = start; at < end; at++) {
      const slot = this.#slot(node, units[at]);
      if (this.#parents[slot] < 0) break;
      node = this.#children[slot];
      if (this.#tokenAt[node] === NO_TOKEN) continue;
      found = this.#tokenAt[node];
      this.matchLength = at + 1 - start;
    }
    return found;
  }

  #insert(text: string, id: number): void {
    let node = ROOT;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      const slot = this.#slot(node, unit);
      if (this.#parents[slot] < 0) {
        this.#parents[slot] = node;
        this.#units[slot] = unit;
        this.#children[slot] = this.#numNodes++;
      }
      node = this.#children[slot];
    }
    this.#tokenAt[node] = id;
  }

  /** Where the edge (node, unit) is, or the empty slot where it would be. At most half of the slots are full. */
  #slot(node: number, unit: number): number {
    const mask = this.#parents.length - 1;
    let slot = (Math.imul(node, 0x9e3779b1) ^ Math.imul(unit, 0x85ebca6b)) >>> this.#shift;
    while (this.#parents[slot] >= 0 && (this.#parents[slot] !== node || this.#units[slot] !== unit))
      slot = (slot + 1) & mask;
    return slot;
  }
}
