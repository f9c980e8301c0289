/** A drawing as the text of an SVG element, without a browser. Built into dist/web/figures/draw-svg.js for src/figures. */
import type { Drawing } from '../../src/figures/drawing.ts';
import { FILE_LOOK, PAGE_LOOK } from './looks.ts';
import { plotDrawing } from './plot.ts';
import { SvgDocument, SvgElement } from './svg-document.ts';

const WIDTH = 720;
const HEIGHT = 480;

/** The same drawing gives the same text. */
export function drawSvg(drawing: Drawing, place: 'file' | 'page'): string {
  const look = place === 'file' ? FILE_LOOK : PAGE_LOOK;
  // Plot's type asks for a whole Document; what it uses of one is here, and the tests draw every kind of mark.
  const document = new SvgDocument() as unknown as Document;
  const svg: unknown = plotDrawing(drawing, { document, look, width: WIDTH, height: HEIGHT, isAlone: true });
  if (!(svg instanceof SvgElement)) throw new Error('bug: the plot is of another document');
  return svg.toXml();
}
