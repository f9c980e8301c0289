import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SnippetTerm, snippetMaker } from './snippet.ts';
import { renderHighlights, renderSnippet } from './snippet-render.ts';
import { wordPieceTokenizer } from './tokenizer.ts';
import { BERT_SPECIAL_TOKENS, Vocabulary } from './vocabulary.ts';
import { BERT_UNCASED } from './wordpiece.ts';
import { wordRanges } from './words.ts';

const WORDS = ['cafe', 'river', 'boat', 'harbour', 'em', '##bed', '##ding', '##s', 'cat', 'x', 'the', '.', '-', '水'];
const tokenizer = wordPieceTokenizer(new Vocabulary([...BERT_SPECIAL_TOKENS, ...WORDS], BERT_SPECIAL_TOKENS, 'test'), {
  settings: BERT_UNCASED,
  label: 'test',
});
const idOf = (token: string): number => tokenizer.vocabulary.idOf(token) ?? -1;
const terms = (weights: Readonly<Record<string, number>>): SnippetTerm[] =>
  Object.entries(weights).map(([token, weight]) => ({ term: idOf(token), weight }));
const snippet = snippetMaker(tokenizer);
const marked = (text: string, weights: Readonly<Record<string, number>>, maxChars?: number): string =>
  renderSnippet(snippet(text, { terms: terms(weights), maxChars }), 'html').replace(/<\/?mark>/g, '*');

describe('a snippet', () => {
  it('highlights words by their tokens: case and accents fold, punctuation and compounds part', () => {
    expect(marked('Un CAFÉ-river, (Boat)s 水.', { cafe: 1, boat: 1, 水: 1 })).toBe('Un *CAFÉ*-river, (*Boat*)s *水*.');
  });

  it('highlights a word of several tokens if half of them match, not for an ending alone', () => {
    expect(marked('embedding cats embed', { em: 1, '##bed': 1, '##ding': 1, '##s': 1 })).toBe(
      '*embedding* *cats* *embed*',
    );
    expect(marked('embeddings', { '##s': 1 })).toBe('embeddings');
    expect(snippet('embeddings', { terms: terms({ '##s': 1 }) }).expansion).toEqual([]);
  });

  it('does not highlight a word that hardly counts beside others, but does where none counts more', () => {
    expect(marked('the boat on the river', { the: 0.2, boat: 3, river: 0.4 })).toBe('the *boat* on the *river*');
    expect(marked('the boat', { the: 0.2 })).toBe('*the* boat');
    expect(snippet('the boat', { terms: terms({ the: 0.2, boat: 3 }) }).matched).toEqual(terms({ boat: 3, the: 0.2 }));
  });

  it('tells terms of the text or title from those that only the vector has', () => {
    const { matched, expansion, titleHighlights } = snippet('A boat.', {
      terms: terms({ river: 3, boat: 1, cafe: 2, cat: 4 }),
      title: 'Café',
    });
    expect(matched).toEqual(terms({ cafe: 2, boat: 1 }));
    expect(expansion).toEqual(terms({ cat: 4, river: 3 }));
    expect(renderHighlights('Café', titleHighlights, 'ansi')).toBe('\u001b[1mCafé\u001b[22m');
  });

  it('shows the passage of the most weight, where a second word is worth more than one repeated', () => {
    const filler = 'x '.repeat(100);
    const text = `boat boat boat boat ${filler}boat near the river ${filler}river`;
    expect(marked(text, { boat: 1, river: 1 }, 40)).toContain('*boat* near the *river*');
    expect(marked(`river ${filler}harbour ${filler}`, { river: 1, harbour: 2 }, 30)).toContain('*harbour*');
  });

  it('begins with a sentence where one begins near, else with a word, and says what it leaves out', () => {
    const text = `${'x '.repeat(50)}x. The boat is here. ${'x '.repeat(50)}`;
    expect(marked(text, { boat: 1 }, 40)).toBe('… The *boat* is here. x x x x x x x x x x x …');
    expect(marked('The boat.', { boat: 1 })).toBe('The *boat*.');
    expect(marked(`${'x '.repeat(50)}boat`, { boat: 1 }, 13)).toBe('… x x x x *boat*');
  });

  it('without a match is the beginning of the text', () => {
    expect(marked('  one two three four', { boat: 1 }, 11)).toBe('one two …');
    expect(marked('abcdefghijkl', {}, 5)).toBe('abcde …');
    expect(marked('', { boat: 1 })).toBe('');
  });

  it('wants a positive length', () => {
    expect(() => snippet('x', { terms: [], maxChars: 0 })).toThrow('maxChars must be a positive integer, got 0');
  });
});

describe('a rendered snippet', () => {
  it('is one line, and no markup or control of its document gets through', () => {
    const found = snippet('<b>boat</b>\n\u001b[31m "x" & \'y\'', { terms: terms({ boat: 1 }) });
    expect(renderSnippet(found, 'html')).toBe(
      '&lt;b&gt;<mark>boat</mark>&lt;/b&gt; [31m &quot;x&quot; &amp; &#39;y&#39;',
    );
    expect(renderSnippet(found, 'ansi')).toBe('<b>\u001b[1mboat\u001b[22m</b> [31m "x" & \'y\'');
    expect(renderSnippet(found, 'plain')).toBe('<b>boat</b> [31m "x" & \'y\'');
  });
});

const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom('boat', 'River', 'café', 'x', '. ', '\n', '水', ' ', '-'),
      fc.string({ unit: 'binary', maxLength: 5 }),
    ),
    { maxLength: 80 },
  )
  .map((parts) => parts.join(' '));

describe('property: snippets', () => {
  it('words have the tokens of their text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const byWord = [...wordRanges(text)].flatMap(({ start, end }) => [...tokenizer.encode(text.slice(start, end))]);
        expect(byWord).toEqual([...tokenizer.encode(text)]);
      }),
    );
  });

  it('are at most maxChars of the text, with highlights in order that hold terms of the query', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 120 }), (text, maxChars) => {
        const query = terms({ boat: 1.5, river: 0.5, cafe: 1, 水: 2, cat: 1 });
        const found = snippet(text, { terms: query, maxChars });
        expect(found.text).toBe(text.slice(found.start, found.end));
        expect(found.text.length).toBeLessThanOrEqual(maxChars);
        let end = 0;
        for (const highlight of found.highlights) {
          expect(highlight.start).toBeGreaterThanOrEqual(end);
          end = highlight.end;
          expect([...tokenizer.encode(found.text.slice(highlight.start, end))]).toEqual(
            expect.arrayContaining([...highlight.terms]),
          );
        }
        expect(end).toBeLessThanOrEqual(found.text.length);
        const inText = new Set(tokenizer.encode(text));
        expect(found.matched.map(({ term }) => term).sort()).toEqual(
          query
            .map(({ term }) => term)
            .filter((term) => inText.has(term))
            .sort(),
        );
        expect(found.matched.length + found.expansion.length).toBe(query.length);
        if (maxChars >= 8 && found.matched.length > 0) expect(found.highlights.length).toBeGreaterThan(0);
      }),
    );
  });
});
