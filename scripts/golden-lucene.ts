/**
 * Asks Lucene for the truth that src/search/bm25 is held to.
 *
 *     npx tsx scripts/golden-lucene.ts CLASSPATH [DATA] && npx biome check --write src/search/bm25/word-classes.ts
 *
 * CLASSPATH names the jars lucene-core and lucene-analysis-common of version 9.9.1 (from Maven Central: `mvn
 * dependency:get -Dartifact=org.apache.lucene:lucene-analysis-common:9.9.1`), joined by a colon; needs `java` 17. Writes
 *
 *     src/search/bm25/word-classes.ts        the classes of characters that its StandardTokenizer tells apart
 *     test/golden/lucene/analysis.json       what its EnglishAnalyzer makes of texts of our own
 *     test/golden/lucene/search.json         what its BM25 finds in documents of our own, and with which scores
 *     test/golden/lucene/collections.json    with DATA, the unpacked real data: checksums of its words of whole collections
 */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { COLLECTIONS, collectionTexts, digest, Lucene } from '../test/golden/lucene/fixtures.ts';
import {
  DELETED,
  DOCUMENTS,
  fuzzTexts,
  OWN_TEXTS,
  PARAMETERS,
  QUERIES,
  SEGMENT_ENDS,
} from '../test/golden/lucene/texts.ts';

const ROOT = resolve(import.meta.dirname, '..');
const OTHER = 'other';

/** The classes by one of their characters, in the words of UAX #29 and UTS #51. */
const REPRESENTATIVES: Readonly<Record<string, number>> = {
  [OTHER]: 0x20,
  doubleQuote: 0x22,
  keycapBase: 0x23,
  singleQuote: 0x27,
  midNum: 0x2c,
  midNumLet: 0x2e,
  digit: 0x30,
  midLetter: 0x3a,
  aLetter: 0x41,
  extendNumLet: 0x5f,
  pictograph: 0xa9,
  extend: 0x300,
  hebrewLetter: 0x5d0,
  numeric: 0x660,
  complexContext: 0xe01,
  complexExtend: 0xe31,
  hangul: 0xac00,
  zwj: 0x200d,
  keycap: 0x20e3,
  emojiLetter: 0x2139,
  han: 0x4e00,
  katakana: 0x30a2,
  hiragana: 0x3042,
  textSelector: 0xfe0e,
  emojiSelector: 0xfe0f,
  regional: 0x1f1e6,
  modifier: 0x1f3fb,
  tag: 0xe0020,
  tagEnd: 0xe007f,
};

type Range = { readonly group: number; readonly first: number; readonly last: number };

function nameOf(group: number, ranges: readonly Range[]): string {
  const own = ranges.filter((range) => range.group === group);
  const names = Object.keys(REPRESENTATIVES).filter((name) =>
    own.some(({ first, last }) => first <= REPRESENTATIVES[name] && REPRESENTATIVES[name] <= last),
  );
  if (names.length !== 1) throw new Error(`class ${group} has ${names.length} names: another version of Lucene?`);
  return names[0];
}

/** "gap.length" in base 36: how far from the end of the range before, how many characters. */
function packed(ranges: readonly Range[]): string {
  let end = 0;
  return ranges
    .map(({ first, last }) => {
      const range = `${(first - end).toString(36)}.${(last + 1 - first).toString(36)}`;
      end = last + 1;
      return range;
    })
    .join(' ');
}

function writeClasses(lucene: Lucene): void {
  const ranges = lucene.ask(['classes'], []).map((line) => {
    const [group, first, last] = line.split(' ').map(Number);
    return { group, first, last };
  });
  const groups = [...new Set(ranges.map(({ group }) => group))];
  const names = groups.map((group) => nameOf(group, ranges));
  const lines = groups
    .filter((_, i) => names[i] !== OTHER)
    .map((group) => `  ${nameOf(group, ranges)}: '${packed(ranges.filter((range) => range.group === group))}',`);
  const text = `/**
 * Classes of characters that Lucene's StandardTokenizer tells apart (Lucene ${lucene.version}, Unicode 12.1): made by
 * scripts/golden-lucene.ts, not by hand. Word_Break is no property that \`\\p{…}\` knows.
 */

/** The classes, in the words of UAX #29 and UTS #51; where two of their classes overlap, the overlap is one of its own. */
export const WORD_CLASSES = ${JSON.stringify(Object.keys(REPRESENTATIVES))} as const;

/** One of the classes. */
export type WordClass = (typeof WORD_CLASSES)[number];

/** The class of all characters that stand in no range. */
export const OTHER: WordClass = '${OTHER}';

/** Ranges by ascending code point, "gap.length" in base 36: gap from the end of the range before. */
export const WORD_RANGES = {
${lines.join('\n')}
} as const satisfies Partial<Record<WordClass, string>>;
`;
  writeFileSync(join(ROOT, 'src/search/bm25/word-classes.ts'), text);
}

function origin(lucene: Lucene): Record<string, unknown> {
  return {
    'made by': 'npx tsx scripts/golden-lucene.ts CLASSPATH DATA',
    date: new Date().toISOString().slice(0, 10),
    versions: { lucene: lucene.version, java: lucene.javaVersion },
  };
}

function writeAnalysis(lucene: Lucene): void {
  const texts = [...OWN_TEXTS, ...fuzzTexts(400)];
  const cased = Array.from({ length: 0x110000 }, (_, code) => code)
    .filter((code) => /\p{L}/u.test(String.fromCodePoint(code)))
    .map((code) => String.fromCodePoint(code));
  const lowered = lucene.ask(['lower'], cased);
  const changed = cased.map((char, i) => [char, lowered[i]]).filter(([char, lower]) => char !== lower);
  const rows = [
    ...Object.entries(origin(lucene)).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`),
    `"lower": ${JSON.stringify(changed.map((pair) => pair.join('')).join(' '))}`,
    `"texts": [\n${texts.map((text) => ascii(text)).join(',\n')}\n]`,
    `"default": [\n${lucene.tokens(texts, { stopWords: true, stem: true }).map(ascii).join(',\n')}\n]`,
    `"plain": [\n${lucene.tokens(texts, { stopWords: false, stem: false }).map(ascii).join(',\n')}\n]`,
  ];
  writeFileSync(join(ROOT, 'test/golden/lucene/analysis.json'), `{\n${rows.join(',\n')}\n}\n`);
}

/** JSON without characters that editors spoil. */
function ascii(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function writeSearch(lucene: Lucene): void {
  const lines = DOCUMENTS.flatMap((text, doc) => [
    `D ${JSON.stringify(text)}`,
    ...(SEGMENT_ENDS.includes(doc + 1) ? ['C'] : []),
  ]);
  const queries = QUERIES.map((text) => `Q ${JSON.stringify(text)}`);
  const deletions = DELETED.map((doc) => `X ${doc}`);
  const answers = PARAMETERS.map(({ k1, b }) => {
    const found = lucene.askRaw(
      ['search', `${k1}`, `${b}`, '100'],
      [...lines, ...queries, ...deletions, 'C', ...queries],
    );
    return { k1, b, whole: found.slice(0, queries.length), deleted: found.slice(queries.length) };
  });
  const golden = { ...origin(lucene), documents: DOCUMENTS.length, queries: QUERIES.length, answers };
  writeFileSync(join(ROOT, 'test/golden/lucene/search.json'), `${JSON.stringify(golden, undefined, 1)}\n`);
}

function writeCollections(lucene: Lucene, data: string): void {
  const collections = COLLECTIONS.map((name) => {
    const texts = collectionTexts(data, name);
    const words = [...new Set(texts.flatMap((text) => text.split(/[^A-Za-z]+/)))].filter((word) => word !== '').sort();
    return {
      name,
      numTexts: texts.length,
      sha256: digest(lucene.tokens(texts, { stopWords: true, stem: true })),
      numWords: words.length,
      stemsSha256: digest(lucene.tokens(words, { stopWords: false, stem: true })),
    };
  });
  const golden = { ...origin(lucene), collections };
  writeFileSync(join(ROOT, 'test/golden/lucene/collections.json'), `${JSON.stringify(golden, undefined, 1)}\n`);
}

function main(): void {
  const [classPath, data] = process.argv.slice(2);
  if (!classPath) throw new Error('usage: npx tsx scripts/golden-lucene.ts CLASSPATH [DATA]');
  const lucene = new Lucene(classPath);
  writeClasses(lucene);
  writeAnalysis(lucene);
  writeSearch(lucene);
  if (data) writeCollections(lucene, data);
}

main();
