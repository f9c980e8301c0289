import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BERT_SPECIAL_TOKENS, BERT_UNCASED, documentText, Vocabulary, wordPieceTokenizer } from '../../text/index.ts';
import { type Chunk, type ChunkSource, chunkDocument, chunkPage, countingOf } from './chunk.ts';

/** Letters are tokens, so that words have as many tokens as letters; punctuation and a few words besides. */
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
const tokenizer = wordPieceTokenizer(
  new Vocabulary(
    [
      ...BERT_SPECIAL_TOKENS,
      'the',
      'of',
      '.',
      '!',
      '›',
      '一',
      '二',
      ...LETTERS,
      ...LETTERS.map((letter) => `##${letter}`),
    ],
    BERT_SPECIAL_TOKENS,
    'test',
  ),
  { settings: BERT_UNCASED, label: 'test' },
);
const counting = countingOf(tokenizer);
/** One token a word. */
const byWord = { countTokens: (text: string) => (text.match(/\S+/g) ?? []).length, numSpecialTokens: 2 };

const page = (paragraphs: readonly string[], more: Partial<ChunkSource> = {}): ChunkSource => ({
  id: 'p',
  title: 'T',
  paragraphs: paragraphs.map((text) => ({ text, heading: -1 })),
  ...more,
});
const numbered = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => `w${from + i}`).join(' ');
const texts = (chunks: Iterable<Chunk>): string[] => Array.from(chunks, ({ text }) => text);

describe('chunks of a page', () => {
  it('are one, where the page is short enough', () => {
    expect([...chunkPage(page(['one', 'two'], { url: 'p.html' }), { maxTokens: 32, ...byWord })]).toEqual([
      { id: 'p#0', page: 'p', chunk: 0, title: 'T', text: 'one\n\ntwo', url: 'p.html' },
    ]);
  });

  it('end at paragraphs, and begin with the last paragraph of the one before where it fits into the overlap', () => {
    // Room is 20 − 2 special − 1 title = 17: the third paragraph does not fit beside the first two.
    const source = page([numbered(0, 12), numbered(12, 15), numbered(15, 25)]);
    expect(texts(chunkPage(source, { maxTokens: 20, overlapTokens: 4, ...byWord }))).toEqual([
      `${numbered(0, 12)}\n\n${numbered(12, 15)}`,
      `${numbered(12, 15)}\n\n${numbered(15, 25)}`,
    ]);
  });

  it('begin with the end of a paragraph that is longer than the overlap: its last sentences, else its last words', () => {
    const options = { maxTokens: 20, overlapTokens: 4, ...byWord };
    expect(texts(chunkPage(page([`${numbered(0, 9)}. ${numbered(9, 12)}.`, numbered(12, 22)]), options))[1]).toBe(
      `${numbered(9, 12)}.\n\n${numbered(12, 22)}`,
    );
    expect(texts(chunkPage(page([numbered(0, 10), numbered(10, 20)]), options))[1]).toBe(
      `${numbered(6, 10)}\n\n${numbered(10, 20)}`,
    );
  });

  it('cut a long paragraph at sentences and lines, a long sentence between words', () => {
    const options = { maxTokens: 20, overlapTokens: 0, ...byWord };
    const sentences = `${numbered(0, 8)}. ${numbered(8, 16)}! ${numbered(16, 24)}.`;
    expect(texts(chunkPage(page([sentences]), options))).toEqual([
      `${numbered(0, 8)}. ${numbered(8, 16)}!`,
      `${numbered(16, 24)}.`,
    ]);
    expect(texts(chunkPage(page([numbered(0, 30)]), options)).join(' ')).toBe(numbered(0, 30));
    expect(texts(chunkPage(page([`${numbered(0, 9)}\n${numbered(9, 18)}`]), options))).toEqual([
      numbered(0, 9),
      numbered(9, 18),
    ]);
  });

  it('are called by the page and the headings above, and are found at the nearest anchor', () => {
    const headings = [
      { level: 1, text: 'T', anchor: 'top' },
      { level: 2, text: 'A', anchor: 'a' },
      { level: 3, text: 'A one', anchor: 'a1' },
      { level: 2, text: 'B' },
    ];
    const paragraphs = [
      { text: numbered(0, 8), heading: 0 },
      { text: numbered(8, 16), heading: 2 },
      { text: numbered(16, 24), heading: 2, anchor: 'def' },
      { text: numbered(24, 32), heading: 3 },
    ];
    const chunks = [
      ...chunkPage({ id: 'p', title: 'T', url: 'u', headings, paragraphs }, { maxTokens: 32, ...byWord }),
    ];
    expect(chunks.map(({ title, url, text }) => [title, url, text])).toEqual([
      ['T', 'u', numbered(0, 8)],
      ['T › A › A one', 'u#a1', numbered(8, 16)],
      ['T › A › A one', 'u#def', numbered(16, 24)],
      ['T › B', 'u', numbered(24, 32)],
    ]);
  });

  it('are found at their anchor from the first on where that is wanted, and a page begins with a heading below its title', () => {
    const headings = [
      { level: 1, text: 'T', anchor: 'top' },
      { level: 2, text: 'A', anchor: 'a' },
    ];
    const urlOf = (at: number, anchorFirst: boolean): string | undefined => {
      const source = { id: 'p', title: 'T', url: 'u', headings, paragraphs: [{ text: numbered(0, 8), heading: at }] };
      const [only] = chunkPage(source, { maxTokens: 32, anchorFirst, ...byWord });
      return only.url;
    };
    expect([urlOf(1, true), urlOf(1, false), urlOf(0, true)]).toEqual(['u#a', 'u', 'u']);
  });

  it('take small sections together, their headings in the text', () => {
    const headings = [
      { level: 2, text: 'A' },
      { level: 2, text: 'B' },
    ];
    const paragraphs = [
      { text: 'one', heading: 0 },
      { text: 'two', heading: 1 },
    ];
    const [only, ...rest] = chunkPage({ id: 'p', title: 'T', headings, paragraphs }, { maxTokens: 64, ...byWord });
    expect([only.title, only.text, rest.length]).toEqual(['T › A', 'one\n\nB\n\ntwo', 0]);
  });

  it('lose no heading: one without text is text', () => {
    const headings = ['A', 'B', 'C'].map((text) => ({ level: 2, text }));
    const [only] = chunkPage(
      { id: 'p', title: 'T', headings, paragraphs: [{ text: 'x', heading: 1 }] },
      { maxTokens: 64, ...byWord },
    );
    expect([only.title, only.text]).toEqual(['T › B', 'A\n\nx\n\nC']);
    const [bare] = chunkPage(
      { id: 'p', title: 'T', headings: [{ level: 1, text: 'T' }], paragraphs: [] },
      { maxTokens: 64, ...byWord },
    );
    expect(bare.text).toBe('T');
  });

  it('give a title a quarter of their room: without the middle, then cut', () => {
    const headings = [
      { level: 1, text: numbered(0, 10) },
      { level: 2, text: 'short' },
    ];
    const title = (name: string): string =>
      [
        ...chunkPage(
          { id: 'p', title: name, headings, paragraphs: [{ text: 'x', heading: 1 }] },
          { maxTokens: 34, ...byWord },
        ),
      ][0].title;
    expect(title('T')).toBe('T › short');
    expect(title(numbered(0, 20))).toBe('short');
  });

  it('of headings alone have at most maxTokens, also where a chunk with a shorter title had room for more of them', () => {
    const headings = [numbered(0, 22), numbered(22, 28), numbered(28, 38)].map((text) => ({ level: 1, text }));
    const source = { id: 'p', title: 'T', headings, paragraphs: [{ text: 'x y', heading: -1 }] };
    const chunks = [...chunkPage(source, { maxTokens: 34, overlapTokens: 0, ...byWord })];
    for (const { title, text } of chunks)
      expect(byWord.countTokens(`${title} ${text}`), `${title} ${text}`).toBeLessThanOrEqual(32);
    expect(chunks.map(({ text }) => text)).toEqual([
      'x y',
      numbered(0, 22),
      `${numbered(22, 28)}\n\n${numbered(28, 38)}`,
    ]);
  });

  it('need room, and less overlap than text', () => {
    expect(() => [...chunkPage(page(['x']), { maxTokens: 17, ...byWord })]).toThrow('maxTokens must be');
    expect(() => [...chunkPage(page(['x']), { maxTokens: 34, overlapTokens: 9, ...byWord })]).toThrow(
      'overlapTokens must be',
    );
  });
});

describe('chunks of a document', () => {
  it('are the document itself, where it is short enough', () => {
    const document = { id: 'd', title: 'T', text: 'one\n\n\ntwo ' };
    expect([...chunkDocument(document, { maxTokens: 32, ...byWord })]).toEqual([document]);
  });

  it('are cut at blank lines otherwise', () => {
    const chunks = chunkDocument(
      { id: 'd', url: 'u', text: `${numbered(0, 14)}\n \n${numbered(14, 28)}` },
      { maxTokens: 20, overlapTokens: 0, ...byWord },
    );
    expect([...chunks]).toMatchObject([
      { id: 'd#0', page: 'd', chunk: 0, text: numbered(0, 14) },
      { id: 'd#1', page: 'd', chunk: 1, text: numbered(14, 28), url: 'u' },
    ]);
  });
});

const word = fc.oneof(
  { weight: 8, arbitrary: fc.stringMatching(/^[a-z]{1,6}$/) },
  { weight: 2, arbitrary: fc.constantFrom('the', 'of.', 'a!', '一二一', 'É', '\u{1F600}') },
  { weight: 1, arbitrary: fc.stringMatching(/^[a-z]{30,90}$/) },
);
const text = fc
  .array(fc.tuple(word, fc.constantFrom(' ', ' ', ' ', '\n', '  ')), { minLength: 1, maxLength: 60 })
  .map((pairs) => pairs.flat().join('').trim());
const anyPage = fc
  .record({
    title: fc.oneof(text, fc.constant(''), fc.constant('t')),
    headings: fc.array(fc.record({ level: fc.integer({ min: 1, max: 6 }), text }), { maxLength: 6 }),
    paragraphs: fc.array(fc.tuple(text, fc.nat(5)), { maxLength: 12 }),
  })
  .map(({ title, headings, paragraphs }): Required<Omit<ChunkSource, 'url'>> => {
    const sections = paragraphs.map(([, at]) => at % (headings.length + 1)).sort((a, b) => a - b);
    return {
      id: 'p',
      title,
      headings,
      paragraphs: paragraphs.map(([own], i) => ({ text: own, heading: sections[i] - 1 })),
    };
  });
const limits = fc.record({
  maxTokens: fc.integer({ min: 18, max: 120 }),
  share: fc.double({ min: 0, max: 0.25, noNaN: true }),
});
const letters = (all: string): string => all.replace(/\s/g, '');

describe('property: chunks', () => {
  it('have at most maxTokens, special tokens and title included', () => {
    fc.assert(
      fc.property(anyPage, limits, (source, { maxTokens, share }) => {
        const overlapTokens = Math.floor((maxTokens - 2) * share);
        for (const chunk of chunkPage(source, { maxTokens, overlapTokens, ...counting }))
          expect(tokenizer.encodeForModel(documentText(chunk), 100_000).numTokens).toBeLessThanOrEqual(maxTokens);
      }),
    );
  });

  it('without overlap are the whole text in its order, but for headings that are in titles', () => {
    fc.assert(
      fc.property(anyPage, limits, ({ headings, ...source }, { maxTokens }) => {
        const paragraphs = source.paragraphs.map((paragraph) => ({ ...paragraph, heading: -1 }));
        const chunks = [...chunkPage({ ...source, paragraphs }, { maxTokens, overlapTokens: 0, ...counting })];
        expect(letters(texts(chunks).join(''))).toBe(letters(paragraphs.map((paragraph) => paragraph.text).join('')));
        expect(chunks.map(({ id }) => id)).toEqual(chunks.map((_, i) => `p#${i}`));
      }),
    );
  });

  it('with overlap begin with an end of the chunk before, then go on where it ended', () => {
    fc.assert(
      fc.property(anyPage, limits, ({ headings, ...source }, { maxTokens, share }) => {
        const overlapTokens = Math.floor((maxTokens - 2) * share);
        const paragraphs = source.paragraphs.map((paragraph) => ({ ...paragraph, heading: -1 }));
        const all = letters(paragraphs.map((paragraph) => paragraph.text).join(''));
        let end = 0;
        for (const chunk of texts(chunkPage({ ...source, paragraphs }, { maxTokens, overlapTokens, ...counting }))) {
          const own = letters(chunk);
          const begins = [...Array(end + 1).keys()].filter((at) => all.startsWith(own, at) && at + own.length > end);
          expect(begins.length).toBeGreaterThan(0);
          const repeated = all.slice(Math.max(...begins), end);
          expect(counting.countTokens(repeated)).toBeLessThanOrEqual(end === 0 ? 0 : Math.max(overlapTokens * 2, 1));
          end = Math.max(...begins) + own.length;
        }
        expect(end).toBe(all.length);
      }),
    );
  });

  it('hold every word of the paragraphs and every heading', () => {
    fc.assert(
      fc.property(anyPage, limits, (source, { maxTokens }) => {
        const chunks = [...chunkPage(source, { maxTokens, ...counting })];
        const found = letters(chunks.map(({ title, text: own }) => `${title} ${own}`).join(' '));
        for (const paragraph of source.paragraphs)
          for (const one of paragraph.text.split(/\s+/)) if (one.length < 7) expect(found).toContain(one);
        const tops = source.headings.filter((heading) => counting.countTokens(heading.text) < maxTokens / 8);
        for (const heading of tops) expect(found).toContain(letters(heading.text));
      }),
    );
  });
});

describe('places in a chunk', () => {
  const byWord = { countTokens: (text: string) => text.match(/\S+/g)?.length ?? 0 };
  const source: ChunkSource = {
    id: 'p',
    url: '/p',
    title: 'Tides',
    headings: [
      { level: 2, text: 'Ropes', anchor: 'ropes' },
      { level: 2, text: 'Sails', anchor: 'sails' },
      { level: 3, text: 'Jib', anchor: 'jib' },
      { level: 2, text: 'Oars', anchor: 'oars' },
    ],
    paragraphs: [
      { text: 'Tie them.', heading: 0 },
      { text: 'Hoist it.', heading: 2 },
      { text: 'Pull.', heading: 3 },
      { text: 'Push.', heading: 3, anchor: 'push' },
    ],
  };

  it('are where sections begin behind the first: at the heading, with that above it that has no text; at definitions', () => {
    const [only, ...others] = chunkPage(source, { maxTokens: 200, withPlaces: true, ...byWord });
    expect(others).toEqual([]);
    const { text, title, places = [] } = only;
    expect(title).toBe('Tides › Ropes');
    expect(places.map(({ start, ...place }) => ({ ...place, text: text.slice(start).split('\n\n')[0] }))).toEqual([
      { title: 'Tides › Sails › Jib', url: '/p#jib', text: 'Sails' },
      { title: 'Tides › Oars', url: '/p#oars', text: 'Oars' },
      { title: 'Tides › Oars', url: '/p#push', text: 'Push.' },
    ]);
  });

  it('are told only where they are asked for', () => {
    expect([...chunkPage(source, { maxTokens: 200, ...byWord })][0].places).toBeUndefined();
  });
});
