/**
 * What `npm run build` makes of web/figures: a module that draws SVG without a browser, and the script of the page. Both
 * carry Observable Plot inside, so that no installed package needs it.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { errorCode, FigureError } from '../core/index.ts';
import type { Drawing } from './drawing.ts';

const FOLDER = import.meta.url.endsWith('.ts')
  ? new URL('../../dist/web/figures/', import.meta.url)
  : new URL('../web/figures/', import.meta.url);

/** Where the SVG is to stand: in a file of its own, or in the page, whose style sheet has the colours. */
export type SvgPlace = 'file' | 'page';

/** A drawing as the text of an SVG element. */
export type DrawSvg = (drawing: Drawing, place: SvgPlace) => string;

/** The module. It takes some time to load, once a process. */
export async function loadDrawSvg(): Promise<DrawSvg> {
  try {
    const { drawSvg }: { drawSvg: DrawSvg } = await import(new URL('draw-svg.js', FOLDER).href);
    return drawSvg;
  } catch (cause) {
    throw errorCode(cause) === 'ERR_MODULE_NOT_FOUND' ? notBuilt(cause) : cause;
  }
}

/** The script of the page. */
export async function readPageScript(): Promise<string> {
  try {
    return await readFile(new URL('page.js', FOLDER), 'utf8');
  } catch (cause) {
    throw errorCode(cause) === 'ENOENT' ? notBuilt(cause) : cause;
  }
}

function notBuilt(cause: unknown): FigureError {
  return new FigureError(`what draws figures is not built: ${fileURLToPath(FOLDER)} lacks it`, {
    hint: 'npm run build',
    cause,
  });
}
