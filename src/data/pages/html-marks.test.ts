import { describe, expect, it } from 'vitest';
import { chunkPage } from './chunk.ts';
import { extractHtml } from './html.ts';
import { labelOf, parseSelectors, weightOf } from './html-marks.ts';
import { toPage } from './page.ts';

const texts = (html: string, options = {}): string[] => extractHtml(html, options).blocks.map(({ text }) => text);

describe('marks of a page', () => {
  it('data-lzero-ignore leaves an element out, with all that is in it', () => {
    expect(
      texts('<main><p>kept</p><div data-lzero-ignore><p>gone <b>too</b></p></div><p>kept again</p></main>'),
    ).toEqual(['kept', 'kept again']);
  });

  it('data-lzero-body is the page, wherever it stands', () => {
    expect(texts('<main><p>not this</p></main><nav><div data-lzero-body><p>this</p></div></nav>')).toEqual(['this']);
  });

  it('data-lzero-weight holds for what is inside, and a part never mixes weights', () => {
    const html = '<main><p>one</p><section data-lzero-weight="2"><p>two</p><p>three</p></section><p>four</p></main>';
    const { blocks } = extractHtml(html);
    expect(blocks.map((block) => (block.kind === 'text' ? block.weight : 0))).toEqual([undefined, 2, 2, undefined]);
    const page = toPage('a.html', '/a.html', extractHtml(html));
    const chunks = [...chunkPage(page, { maxTokens: 64, countTokens: (text) => text.split(/\s+/).length })];
    expect(chunks.map(({ text, weight }) => [text, weight])).toEqual([
      ['one', undefined],
      ['two\n\nthree', 2],
      ['four', undefined],
    ]);
    expect(weightOf({})).toBeUndefined();
    for (const wrong of ['heavy', '11', '0', '-1', '']) {
      const problem = `data-lzero-weight is a number above 0, at most 10, not "${wrong}"`;
      expect(() => extractHtml(html.replace('"2"', `"${wrong}"`))).toThrow(problem);
    }
  });

  it('data-lzero-label files the page, by its value, its content or its text; the first counts', () => {
    const html =
      '<html data-lzero-label="part: Guide"><meta data-lzero-label="version" content="3.11">' +
      '<main><p>By <b data-lzero-label="author">A. <i>Writer</i></b></p><p data-lzero-label="part:Other">text</p></main>';
    expect(extractHtml(html).labels).toEqual({ part: 'Guide', version: '3.11', author: 'A. Writer' });
    expect(labelOf({})).toBeUndefined();
  });

  it('pages without marks have the content, and the hash, that they had', () => {
    const page = toPage('a.html', '/a.html', extractHtml('<main><h1>Title</h1><p>text</p></main>'));
    expect(page).not.toHaveProperty('labels');
    expect(page.paragraphs).toEqual([{ text: 'text', heading: 0 }]);
  });

  it('selectors of one step choose by name, class, id and attribute', () => {
    const selects = parseSelectors(['nav', '.toc', '#side', 'div.note[role=note]']);
    expect(selects('nav', {})).toBe(true);
    expect(selects('ul', { class: 'simple toc' })).toBe(true);
    expect(selects('ul', { class: 'toctree' })).toBe(false);
    expect(selects('p', { id: 'side' })).toBe(true);
    expect(selects('div', { class: 'note', role: 'note' })).toBe(true);
    expect(selects('div', { class: 'note' })).toBe(false);
    expect(texts('<main><p>a</p><p class="toc">b</p></main>', { isIgnored: selects })).toEqual(['a']);
    for (const wrong of ['', 'a b', 'main > nav', '..x']) expect(() => parseSelectors([wrong])).toThrow('one step');
  });
});
