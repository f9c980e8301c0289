/** The known word that a mistyped one was meant to be. Knows nothing of configurations. */

/** Beyond this many mistakes a suggestion is a guess. */
const MAX_MISTAKES = 3;

/** The known word closest to `word`, or undefined where none is close. Case, `-` and `_` do not count as mistakes. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const plainWord = plain(word);
  let best: { readonly word: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const plainCandidate = plain(candidate);
    const longest = Math.max(plainWord.length, plainCandidate.length);
    if (Math.abs(plainWord.length - plainCandidate.length) > MAX_MISTAKES) continue;
    const distance = editDistance(plainWord, plainCandidate);
    const allowed = Math.min(MAX_MISTAKES, Math.max(1, Math.floor(longest / 3)), longest - 1);
    if (distance <= allowed && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { word: candidate, distance };
  }
  return best?.word;
}

/**
 * Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, no letter touched twice
 * (optimal string alignment):
 *
 *     d(i,j) = min{ d(i−1,j) + 1, d(i,j−1) + 1, d(i−1,j−1) + [a_i ≠ b_j], d(i−2,j−2) + 1 if a_{i−1}a_i = b_j b_{j−1} }
 */
export function editDistance(a: string, b: string): number {
  const width = b.length + 1;
  const d = new Uint32Array((a.length + 1) * width); // d(i,j) at i·width + j
  for (let j = 0; j <= b.length; j++) d[j] = j;
  for (let i = 1; i <= a.length; i++) {
    d[i * width] = i;
    for (let j = 1; j <= b.length; j++) {
      const at = i * width + j;
      const replaced = d[at - width - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      d[at] = Math.min(d[at - width] + 1, d[at - 1] + 1, replaced);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) d[at] = Math.min(d[at], d[at - 2 * width - 2] + 1);
    }
  }
  return d[d.length - 1];
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[-_]/g, '');
}
