/** A figure as files: SVG for documents, an interactive page, and the numbers. */
import { join } from 'node:path';
import { OutputError } from '../core/index.ts';
import { makeFolder, writeFileAtomically } from '../files/index.ts';
import { loadDrawSvg, readPageScript } from './built-files.ts';
import { checkFigure } from './check-figure.ts';
import { figureCsv } from './csv.ts';
import { drawingOf } from './drawing.ts';
import type { Figure } from './figure.ts';
import { renderPage } from './html.ts';

/** Where the files of a figure are. */
export type FigureFiles = { readonly svg: string; readonly html: string; readonly csv: string };

/**
 * Writes ID.svg, ID.html and ID.csv into a folder, which is made where it is missing; the same figure gives the same bytes.
 * Throws FigureError for a figure that cannot be drawn, before anything is written.
 *
 * @returns the paths of the files
 */
export async function writeFigure(figure: Figure, folder: string): Promise<FigureFiles> {
  checkFigure(figure);
  const [drawSvg, script] = await Promise.all([loadDrawSvg(), readPageScript()]);
  const drawing = drawingOf(figure);
  const csv = figureCsv(figure);
  const svg = `<?xml version="1.0" encoding="UTF-8"?>\n${drawSvg(drawing, 'file')}\n`;
  const html = renderPage(figure, { drawing, csv, script, svg: drawSvg(drawing, 'page') });
  const paths = {
    svg: join(folder, `${figure.id}.svg`),
    html: join(folder, `${figure.id}.html`),
    csv: join(folder, `${figure.id}.csv`),
  };
  ensureFolder(folder);
  await writeFileAtomically(paths.csv, csv);
  await writeFileAtomically(paths.svg, svg);
  await writeFileAtomically(paths.html, html);
  return paths;
}

function ensureFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (cause) {
    throw OutputError.writing(folder, cause);
  }
}
