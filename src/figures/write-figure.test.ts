import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { fc, test } from '@fast-check/vitest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SAMPLE } from '../../test/figures/sample-figure.ts';
import { allElements, parseXml, type XmlElement } from '../../test/figures/well-formed-xml.ts';
import { FigureError, OutputError } from '../core/index.ts';
import { loadDrawSvg } from './built-files.ts';
import { drawingOf } from './drawing.ts';
import type { Figure } from './figure.ts';
import { writeFigure } from './write-figure.ts';

const HOSTILE = `</script><script>alert(1)</script><!-- "'&amp; ]]> \u0000\u0008\ud800 <img src=x onerror=alert(1)>`;

const drawSvg = await loadDrawSvg();
const svgOf = (figure: Figure): XmlElement => parseXml(drawSvg(drawingOf(figure), 'file'));
const labelled = (root: XmlElement, label: string): XmlElement[] =>
  allElements(root).filter(({ attributes }) => attributes.get('aria-description') === label);
const numMarks = (root: XmlElement, label: string): number =>
  labelled(root, label).reduce((sum, { children }) => sum + children.length, 0);

function named(text: string): Figure {
  const series = SAMPLE.series.map((one, i) => ({
    ...one,
    name: `${one.name} ${text}`,
    points: one.points.map((point) => ({ ...point, label: `${text}${i}` })),
  }));
  return { ...SAMPLE, title: text, caption: text, x: { ...SAMPLE.x, label: text }, series };
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-figure-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the SVG of a figure', () => {
  it('is well-formed, of a fixed size, with title and description, and runs and fetches nothing', () => {
    const root = svgOf(SAMPLE);
    expect(root.name).toBe('svg');
    expect(Object.fromEntries(root.attributes)).toMatchObject({
      ...{ width: '720', height: '480', viewBox: '0 0 720 480', role: 'img', 'font-family': 'sans-serif' },
      'aria-labelledby': 'figure1-title figure1-desc',
    });
    expect(root.children[0]).toMatchObject({ name: 'title', text: SAMPLE.title });
    expect(root.children[1]).toMatchObject({ name: 'desc', text: SAMPLE.caption });
    const elements = allElements(root);
    const names = new Set(elements.map(({ name }) => name));
    for (const name of ['script', 'style', 'image', 'a', 'foreignObject']) expect(names).not.toContain(name);
    const ids = elements.flatMap(({ attributes }) => attributes.get('id') ?? []);
    expect(ids).toEqual(['figure1-title', 'figure1-desc']);
    expect(elements.some(({ attributes }) => attributes.has('style') || attributes.has('href'))).toBe(false);
    expect(root.text).not.toContain('⚠');
  });

  it('has a mark for every point, an x for every collapsed one, and a bar for every spread', () => {
    const root = svgOf(SAMPLE);
    expect(numMarks(root, 'points of baseline')).toBe(5);
    expect(numMarks(root, 'collapsed of baseline')).toBe(1);
    expect(numMarks(root, 'points of mask')).toBe(5);
    expect(numMarks(root, 'collapsed of mask')).toBe(0);
    expect(numMarks(root, 'points of mask (published)')).toBe(2);
    expect(numMarks(root, 'points of SPLADE-v3-Doc (published)')).toBe(1);
    expect(numMarks(root, 'spread of mask')).toBe(10);
    expect(numMarks(root, 'Pareto front')).toBe(1);
    for (const title of ['baseline', 'mask', 'mask (published)', 'Pareto front', 'collapsed (0 is drawn at the edge)'])
      expect(root.text).toContain(title);
  });

  it('draws what is published hollow and dashed, in the colour and shape of what is measured under its name', () => {
    const root = svgOf(SAMPLE);
    const [measured, published] = ['points of mask', 'points of mask (published)'].map(
      (label) => labelled(root, label)[0],
    );
    expect(published.attributes.get('stroke')).toBe(measured.attributes.get('stroke'));
    expect(measured.attributes.get('fill')).toBe(measured.attributes.get('stroke'));
    expect(published.attributes.get('fill')).toBe('#ffffff');
    const [whole, dashed] = ['line of mask', 'line of mask (published)'].map((label) => labelled(root, label).at(-1));
    expect([whole?.attributes.get('stroke-dasharray'), dashed?.attributes.get('stroke-dasharray')]).toEqual([
      undefined,
      '5 4',
    ]);
  });

  it('puts a collapsed 0 at the low edge of a logarithmic axis, and says its value and that it did', () => {
    const [mark] = labelled(svgOf(SAMPLE), 'collapsed of baseline')[0].children;
    expect(mark.attributes.get('transform')).toMatch(/^translate\(56,/); // where the axis begins
    expect(mark.children[0].text).toBe(
      'baseline\nλ 0.12, t 200\nFLOPS: 0\nNDCG@10: 0.01\ncollapsed; drawn at the edge',
    );
  });

  const place = fc.record({
    x: fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
    y: fc.double({ min: -1e9, max: 1e9, noNaN: true }),
    isCollapsed: fc.boolean(),
  });
  test.prop([fc.array(place, { minLength: 1, maxLength: 12 })], { numRuns: 50 })(
    'has a mark for every point inside of the axes, whatever the numbers',
    (places) => {
      const points = places.map((one, i) => ({ ...one, label: `${i}` }));
      const root = svgOf({ ...SAMPLE, series: [{ name: 's', kind: 'measured', points }] });
      const groups = ['points of s', 'collapsed of s'].flatMap((label) => labelled(root, label));
      const marks = groups.flatMap(({ children }) => children);
      expect(marks).toHaveLength(points.length);
      for (const { attributes } of marks) {
        const [x, y] = attributes.has('cx')
          ? [attributes.get('cx'), attributes.get('cy')]
          : (attributes.get('transform')?.match(/-?[\d.]+/g) ?? []);
        expect(Number(x)).toBeGreaterThanOrEqual(56);
        expect(Number(x)).toBeLessThanOrEqual(704);
        expect(Number(y)).toBeGreaterThanOrEqual(50);
        expect(Number(y)).toBeLessThanOrEqual(436);
      }
    },
  );

  test.prop([fc.string({ unit: 'binary', maxLength: 30 })], { numRuns: 30 })(
    'is well-formed whatever names and labels are',
    (text) => {
      const { name } = svgOf(named(text));
      expect(name).toBe('svg');
    },
  );
});

describe('a figure as files', () => {
  it('has the same bytes each time, and nothing beside them', async () => {
    const [a, b] = [join(folder, 'a'), join(folder, 'deep/b')];
    const paths = await writeFigure(SAMPLE, a);
    await writeFigure(SAMPLE, b);
    expect(paths).toEqual({ svg: join(a, 'figure1.svg'), html: join(a, 'figure1.html'), csv: join(a, 'figure1.csv') });
    expect(readdirSync(b).sort()).toEqual(['figure1.csv', 'figure1.html', 'figure1.svg']);
    for (const name of readdirSync(b)) expect(readFileSync(join(a, name))).toEqual(readFileSync(join(b, name)));
    expect(readFileSync(paths.svg, 'utf8')).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?>\n<svg /);
  });

  it('a refused figure leaves no file', async () => {
    const series = [{ name: 's', kind: 'measured', points: [{ x: NaN, y: 0, label: '' }] } as const];
    const place = join(folder, 'refused');
    await expect(writeFigure({ ...SAMPLE, series }, place)).rejects.toThrow(FigureError);
    expect(() => readdirSync(place)).toThrow('ENOENT');
  });

  it('a folder that cannot be made is an OutputError', async () => {
    writeFileSync(join(folder, 'file'), '');
    await expect(writeFigure(SAMPLE, join(folder, 'file/inside'))).rejects.toThrow(OutputError);
  });
});

describe('the page of a figure', () => {
  const pageOf = async (figure: Figure): Promise<string> =>
    readFileSync((await writeFigure(figure, folder)).html, 'utf8');

  it('has only the script and the style that its policy names, and fetches nothing', async () => {
    const page = await pageOf(SAMPLE);
    const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    const [, style] = page.match(/<style>([\s\S]*?)<\/style>/) ?? [];
    const [, script] = page.match(/<script>([\s\S]*?)<\/script>/) ?? [];
    expect(page).toContain(
      `content="default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}; base-uri 'none'; form-action 'none'"`,
    );
    expect(() => new Script(script)).not.toThrow();
    expect(page.match(/<(?:script|style|link|img|iframe)\b/g)).toEqual(['<style', '<script', '<script']);
    expect(page).not.toMatch(/ style="| src=|@import/);
    expect(page.match(/href="(?!data:text\/csv)/)).toBeNull();
  });

  it('has licences of what is inside', async () => {
    const page = await pageOf(SAMPLE);
    for (const owner of ['Observable, Inc.', 'Mike Bostock', 'Charles Karney', 'Cynthia Brewer'])
      expect(page).toContain(owner);
  });

  it('shows the SVG, a table of all points and the CSV without its script', async () => {
    const page = await pageOf(SAMPLE);
    const body = page.replace(/<script[\s\S]*<\/script>/, '');
    const [svg] = body.match(/<svg [\s\S]*<\/svg>/) ?? [''];
    expect(numMarks(parseXml(svg), 'points of mask')).toBe(5);
    expect(svg).toContain('var(--series-0)');
    expect(body.match(/<tr><th scope="row">/g)).toHaveLength(14);
    const [, link] = body.match(/href="data:text\/csv;charset=utf-8,([^"]*)"/) ?? [];
    expect(decodeURIComponent(link)).toBe(readFileSync(join(folder, 'figure1.csv'), 'utf8'));
  });

  it('lets no name, label, title or caption out of its place', async () => {
    const page = await pageOf(named(HOSTILE));
    expect(page).not.toContain('<img');
    expect(page).not.toContain('alert(1)</script>');
    expect(page.match(/<\/?script\b/gi)).toEqual(['<script', '</script', '<script', '</script']);
    const [, json] = page.match(/id="drawing">([^<]*)<\/script>/) ?? [];
    expect(JSON.parse(json).title).toBe(HOSTILE);
    expect(page).not.toMatch(/<!--/);
  });
});
