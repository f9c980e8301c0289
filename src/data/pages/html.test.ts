import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeHtml } from './decode-text.ts';
import { extractHtml } from './html.ts';

const texts = (html: string): string[] => extractHtml(html).blocks.map(({ text }) => text);
const words = (text: string): string[] => text.match(/\S+/g) ?? [];

describe('the text of an HTML page', () => {
  it('is its main part, without navigation, scripts and hidden elements', () => {
    const html = `<title>t</title><body><nav>menu</nav><div>sidebar</div>
      <main><h1>Head</h1><script>let x = "<p>no</p>";</script><style>p{}</style><template>no</template>
      <noscript>no</noscript><p hidden>no</p><p aria-hidden="true">no</p><p style="color:red; display: none">no</p>
      <p>yes</p><nav>toc</nav><aside>related</aside><aside class="note">a note</aside><footer>by me</footer></main></body>`;
    expect(texts(html)).toEqual(['Head', 'yes', 'a note']);
  });

  it('is found by role="main", else by <article>, whose header holds its title', () => {
    expect(texts('<p>x</p><div role="main"><p>a</p></div><article>b</article>')).toEqual(['a']);
    expect(texts('<header>site</header><article><header><h1>T</h1></header><p>b</p></article>')).toEqual(['T', 'b']);
  });

  it('is everything but blocks of links, where a page does not say where its text is', () => {
    const html = `<div><a href="a">Home</a> » <a href="b">Guide</a></div><p>Contents</p>
      <ul><li><a href="c">One</a></li><li><a href="d">Two</a></li></ul>
      <p>Prose with <a href="e">a link</a> in it is kept as it is.</p>`;
    expect(texts(html)).toEqual(['Prose with a link in it is kept as it is.']);
  });

  it('is the whole page, where nothing else is left: a page of links, a nav that is never closed', () => {
    expect(texts('<ul><li><a href="c">One</a></li><li><a href="d">Two</a></li></ul>')).toEqual(['One', 'Two']);
    expect(texts('<nav><ul><li>menu</ul><p>All the text stands in the nav.')).toEqual([
      'menu',
      'All the text stands in the nav.',
    ]);
    expect(texts('<main></main><p>text</p>')).toEqual(['text']);
  });

  it('keeps line breaks of listings and collapses all other white space', () => {
    expect(texts('<p> a\n  b&nbsp; c<br>d </p><pre>\n  if x:\n\n    y\n</pre>')).toEqual([
      'a b c\nd',
      '  if x:\n\n    y',
    ]);
  });

  it('joins inline elements and parts blocks', () => {
    expect(texts('<p>un<b>believ</b>able<span> x</span></p>tail<div>a<div>b</div>c</div>')).toEqual([
      'unbelievable x',
      'tail',
      'a',
      'b',
      'c',
    ]);
  });

  it('has tables with rows on lines and cells between tabs, whatever is inside of cells', () => {
    const html = `<table><caption>Sizes</caption><tr><th>name<th>size</tr>
      <tr><td><p>small</p></td><td></td><td><ul><li>1</li><li>2</li></ul></td></tr></table><p>after</p>`;
    expect(texts(html)).toEqual(['Sizes\nname\tsize\nsmall\t1\n2', 'after']);
  });

  it('parts the text of a table that only lays out the page', () => {
    const long = 'word '.repeat(200).trim();
    expect(texts(`<table><tr><td><p>${long}</p><p>second</p></td></tr></table>`)).toEqual([long, 'second']);
  });

  it('decodes entities, and leaves broken ones as they are', () => {
    expect(texts('<p>&lt;a&gt; &amp;amp; caf&eacute; &#x20AC;&#8364; &nosuch; &#xZZ; AT&T &copy')).toEqual([
      '<a> &amp; café €€ &nosuch; &#xZZ; AT&T ©',
    ]);
  });

  it('survives what browsers survive', () => {
    expect(texts('<p>a < b and c<d')).toEqual(['a < b and c']);
    expect(texts('<p>one<p>two<li>three<!-- <p>no</p> --><![CDATA[no]]><?php no ?> four</p></p></div>')).toEqual([
      'one',
      'two',
      'three four',
    ]);
    expect(texts('<h2>Heading<p>text that no one closed the heading before')).toEqual([
      'Heading',
      'text that no one closed the heading before',
    ]);
    expect(texts('<P CLASS=x ID=>upper</P><img alt="a ship" src=x>')).toEqual(['upper', 'a ship']);
  });

  it('reads 120,000 elements that are never closed, and 60,000 ends of nothing, in seconds', () => {
    const html = `<main>${'<b>x <font> '.repeat(60_000)}${'</i>'.repeat(60_000)}<p>end</main>`;
    const [first, last] = texts(html);
    expect(first).toHaveLength(60_000 * 2 - 1);
    expect(last).toBe('end');
  });
});

describe('the name of an HTML page', () => {
  it('is its <title> without the site, which the first heading tells', () => {
    const titleOf = (title: string, heading: string) =>
      extractHtml(`<title>${title}</title><h1>${heading}<a class="headerlink" href="#x">¶</a></h1><p>x`).title;
    expect(titleOf('os — Interfaces — Python 3.11', 'os — Interfaces')).toBe('os — Interfaces');
    expect(titleOf('Site | Page', 'Page')).toBe('Page');
    expect(titleOf('Pages of old', 'Page')).toBe('Pages of old');
    expect(titleOf('Something', 'Else')).toBe('Something');
    expect(titleOf('', 'Only a heading')).toBe('Only a heading');
  });

  it('is not taken from the <title> of a drawing', () => {
    expect(extractHtml('<svg><title>icon</title></svg><title>Page</title><p>x').title).toBe('Page');
  });
});

describe('anchors of an HTML page', () => {
  const anchors = (html: string) => extractHtml(html).blocks.map(({ text, anchor }) => [text, anchor]);

  it('of headings are their id, an anchor inside, or the section they open', () => {
    const html = `<h2 id="own">A</h2><h2>B<a id="in" href="#in">#</a></h2><section id="sec"><span id="s"></span><h3>C</h3>
      <p>text</p><h3>D</h3></section>`;
    expect(anchors(html)).toEqual([
      ['A', 'own'],
      ['B', 'in'],
      ['C', 'sec'],
      ['text', undefined],
      ['D', undefined],
    ]);
  });

  it('of definitions hold for what they define, and no longer', () => {
    const html = `<p>intro<dl><dt id="C">class C<dd><p>about C<dl><dt id="C.m">m()<dd>about m</dl><p>more of C</dl><p>end`;
    expect(anchors(html)).toEqual([
      ['intro', undefined],
      ['class C', 'C'],
      ['about C', 'C'],
      ['m()', 'C.m'],
      ['about m', 'C.m'],
      ['more of C', 'C'],
      ['end', undefined],
    ]);
  });
});

describe('encodings of an HTML page', () => {
  const decoded = (bytes: Iterable<number>): string => decodeHtml(Uint8Array.from(bytes));
  const ascii = (text: string): number[] => Array.from(text, (char) => char.charCodeAt(0));

  it('come from a byte-order mark, a declaration, or the bytes themselves', () => {
    expect(decoded([0xef, 0xbb, 0xbf, ...new TextEncoder().encode('é')])).toBe('é');
    expect(decoded([0xff, 0xfe, 0xe9, 0])).toBe('é');
    expect(decoded([0xfe, 0xff, 0, 0xe9])).toBe('é');
    expect(decoded(ascii('<p>é').flatMap((unit) => [unit, 0]))).toBe('<p>é');
    expect(decoded([...ascii('<meta charset="windows-1251">'), 0xe9])).toMatch(/й$/);
    expect(decoded([...ascii('<META http-equiv=x content="text/html; charset=Shift_JIS">'), 0x83, 0x41])).toMatch(
      /ア$/,
    );
    expect(decoded([...ascii('<?xml version="1.0" encoding="iso-8859-2"?>'), 0xb1])).toMatch(/ą$/);
    expect(decoded([...new TextEncoder().encode('<p>né')])).toBe('<p>né');
    expect(decoded([0x93, ...ascii('caf'), 0xe9, 0x94])).toBe('“café”');
  });

  it('that do not exist, or cannot be what they say, are passed over', () => {
    expect(decoded(new TextEncoder().encode('<meta charset="klingon">é'))).toMatch(/é$/);
    expect(decoded(new TextEncoder().encode('<meta charset="utf-16">é'))).toMatch(/é$/);
    expect(decoded(new TextEncoder().encode('<!-- <meta charset="windows-1252"> -->é'))).toMatch(/é$/);
  });
});

const TAGS = [
  'p',
  'div',
  'b',
  'a',
  'table',
  'tr',
  'td',
  'li',
  'ul',
  'pre',
  'h2',
  'span',
  'dl',
  'dt',
  'section',
  'main',
  'br',
];

/** Markup that nests as it likes, around words that no other word contains. */
const soup = fc.array(
  fc.oneof(
    fc.constantFrom(...TAGS).map((tag) => `<${tag}>`),
    fc.constantFrom(...TAGS).map((tag) => `</${tag}>`),
    fc.constantFrom(' ', '\n', '&amp;', '<', '&', '<!-- x -->', '"'),
    fc.stringMatching(/^[a-z]{1,8}$/).map((word) => ` ${word} `),
  ),
  { maxLength: 60 },
);

describe('property: the HTML reader', () => {
  it('takes any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), soup, (bytes, tags) => {
        extractHtml(decodeHtml(bytes));
        extractHtml(`${tags.join('')}${decodeHtml(bytes)}${tags.join('')}`);
      }),
    );
  });

  it('loses no word of the main part, and adds none from outside', () => {
    fc.assert(
      fc.property(soup, (tags) => {
        const inner = tags.filter((tag) => !/main/.test(tag));
        const expected = inner.filter((tag) => /^ [a-z]+ $/.test(tag)).map((word) => word.trim());
        fc.pre(expected.length > 0);
        const html = `<nav>OUTSIDE</nav><main><p>FIRST</p>${inner.join('')}</main><p>OUTSIDE`;
        const found = texts(html)
          .flatMap(words)
          .filter((word) => /^[a-z]+$/.test(word));
        expect(found).toEqual(expected);
        expect(texts(html).join(' ')).not.toContain('OUTSIDE');
      }),
    );
  });
});

describe('a <title> that is not closed', () => {
  it.each([
    ['<title>Broken</head><body><p>text', 'Broken'],
    ['<title>Broken<body><p>text', 'Broken'],
    ['<title>Broken\n<p>text', 'Broken'],
    ['<title>Broken</head><body><p>text <svg><title>icon</title></svg>', 'Broken'],
    ['<head><title/></head><body><p>text', undefined],
    ['<head><title /></head><body><p>text', undefined],
    ['<head><title>The <body> element</title></head><body><p>text', 'The <body> element'],
  ])('does not take the page with it: %s', (html, title) => {
    expect(extractHtml(html).title).toBe(title);
    expect(texts(html)[0]).toMatch(/^text/);
  });
});
