import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extractMarkdown } from './markdown.ts';
import { inlineText } from './markdown-inline.ts';

const texts = (markdown: string): string[] => extractMarkdown(markdown).blocks.map(({ text }) => text);
const headings = (markdown: string) =>
  extractMarkdown(markdown).blocks.flatMap((block) =>
    block.kind === 'heading' ? [`${block.level} ${block.text} #${block.anchor}`] : [],
  );

describe('blocks of Markdown', () => {
  it('are headings of both kinds, with the address that GitHub gives them or their own', () => {
    const markdown = '# One #\n\nTwo\n===\nThree *x*\n---\n####### seven\n### C++ & C# {#cc}\n## One\n#no\n#';
    expect(headings(markdown)).toEqual([
      '1 One #one',
      '1 Two #two',
      '2 Three x #three-x',
      '3 C++ & C# #cc',
      '2 One #one-1',
    ]);
    expect(texts(markdown)).toContain('####### seven');
  });

  it('are headings without their badges, unless a heading is nothing but an image', () => {
    expect(headings('# name [![npm](b.svg)](l) ![ci](c)\n# ![logo](l.png)\n\n<h2><img alt="logo"> Name</h2>')).toEqual([
      '1 name #name',
      '1 logo #logo',
      '2 Name #undefined',
    ]);
  });

  it('are listings as they stand, fenced or indented, closed or not', () => {
    expect(texts('```js\nlet *x* = `y`;\n\n  # no heading\n```\nafter')).toEqual([
      'let *x* = `y`;\n\n  # no heading',
      'after',
    ]);
    expect(texts('~~~\na\n```\nb\n~~~~\nc')).toEqual(['a\n```\nb', 'c']);
    expect(texts('text\n\n    indented **code**\n\n    more\n\ntext')).toEqual([
      'text',
      'indented **code**\n\nmore',
      'text',
    ]);
    expect(texts('```\nnever closed')).toEqual(['never closed']);
  });

  it('are items of lists, each by itself, with what belongs to them', () => {
    expect(texts('- one\n  goes on\n- [x] two\n\n      still two\n1) three\n* * *\nend')).toEqual([
      'one goes on',
      'two',
      'still two',
      'three',
      'end',
    ]);
  });

  it('are tables with rows on lines and cells between tabs', () => {
    expect(texts('| a | `b|c` |\n|:--|--:|\n| 1 \\| 2 | **3** |\n| | x |\n\nend')).toEqual([
      'a\t`b\tc`\n1 | 2\t3\nx',
      'end',
    ]);
  });

  it('are HTML without its tags, also headings; comments are nothing', () => {
    expect(
      texts(
        '<h1 align="center">Name</h1>\n<p>a<br>b</p>\n\n<!-- no\n\nno --><details>\n<summary>S</summary>\n\nbody *x*\n\n</details>',
      ),
    ).toEqual(['Name', 'a\nb', 'S', 'body x']);
  });

  it('leave out quotation marks of replies, references, alerts and fences of containers', () => {
    expect(
      texts('> [!NOTE]\n> quoted\n> > twice\n\n[ref]: https://x.org "t"\n\n:::tip Hint\ninner\n:::\n\n[^1]: foot'),
    ).toEqual(['quoted twice', 'Hint inner', 'foot']);
  });
});

describe('text inside of paragraphs', () => {
  const cases: readonly (readonly [markdown: string, text: string])[] = [
    ['**bold** _it_ ~~gone~~ ***both***', 'bold it gone both'],
    ['snake_case_name and 2 * 3 * 4 ~5', 'snake_case_name and 2 * 3 * 4 ~5'],
    ['[text](https://x.org/a_(b) "t") [ref][id] [ref][]', 'text ref ref'],
    ['![a *ship*](s.png) [![badge](b.svg)](l)', 'a ship badge'],
    ['array[0] [not a link] f(x)[1](', 'array[0] [not a link] f(x)[1]('],
    ['`<div>` and ``a `tick` b`` and `open', '<div> and a `tick` b and `open'],
    [
      '<https://x.org/?a=1&b> <me@x.org> a <b>tag</b> 1 < 2 &amp; &copy;',
      'https://x.org/?a=1&b me@x.org a tag 1 < 2 & ©',
    ],
    ['\\*not\\* \\<b> a\\b', '*not* <b> a\\b'],
    ['note[^1] {% raw %} {{< x >}} {: .c} {y}', 'note {y}'],
    ['line  \nbreak\nsame', 'line\nbreak same'],
    ['a <b unclosed', 'a <b unclosed'],
  ];
  it.each(cases)('%j is %j', (markdown, text) => {
    expect(inlineText(markdown)).toBe(text);
  });
});

describe('front matter', () => {
  it('gives the title and the simple keys', () => {
    const { title, fields, blocks } = extractMarkdown(
      '---\ntitle: "A: b"\nweight: 3\ndraft: true\ntags: [a, b]\nnested: {x: 1}\n---\n# H\ntext',
    );
    expect({ title, fields }).toEqual({ title: 'A: b', fields: { weight: 3, draft: true, tags: ['a', 'b'] } });
    expect(blocks).toHaveLength(2);
  });

  it('that is not sound YAML is read line by line', () => {
    expect(extractMarkdown('---\ntitle: Ports: a guide\nby: [x\n---\ntext')).toMatchObject({
      title: 'Ports: a guide',
      fields: { by: '[x' },
      blocks: [{ text: 'text' }],
    });
  });

  it('may be TOML', () => {
    expect(extractMarkdown('+++\ntitle = "T"\nweight = 2\n+++\ntext')).toMatchObject({
      title: 'T',
      fields: { weight: 2 },
    });
  });

  it('that never ends is a rule and text', () => {
    expect(texts('---\ntitle: x\n\ntext')).toEqual(['title: x', 'text']);
  });
});

describe('property: the Markdown reader', () => {
  const piece = fc.constantFrom(
    ...'#*_`~[]()<>!|-=+:{}%\\&\n\n \t1.ab>"'.split(''),
    '```',
    '---',
    '<!--',
    '](',
    '![',
    '[^',
  );

  it('takes any text, and keeps its words when nothing marks them up', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 80 }), fc.string({ unit: 'binary', maxLength: 60 }), (marks, text) => {
        extractMarkdown(marks.join('') + text);
        extractMarkdown(text + marks.join(''));
      }),
    );
    const prose = fc.array(fc.stringMatching(/^[a-z]{1,9}[,.]?$/), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(prose, (words) => {
        expect(texts(words.join(' '))).toEqual([words.join(' ')]);
      }),
    );
  });

  it.each([
    '[',
    '](',
    '`',
    '``` ',
    '*a',
    '_',
    '<',
    '<!--',
    '{%',
    '{{<',
    '![',
    '> ',
    '- ',
    '|-',
    '\\',
    '&',
    '#',
    '\n#',
    ':::',
    '[a](',
    '`` ` ',
  ])('reads 200,000 times %j in a second or two', (mark) => {
    const began = performance.now();
    extractMarkdown(`${mark.repeat(200_000)}x`);
    expect(performance.now() - began).toBeLessThan(8000);
  });
});
