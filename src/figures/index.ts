/** Points of experiments as figures: SVG, an interactive page, and the numbers as CSV. */
export { figureCsv } from './csv.ts';
export type { Better, Figure, FigureAxis, FigurePoint, FigureSeries } from './figure.ts';
export { paretoFront } from './pareto-front.ts';
export type { FigureFiles } from './write-figure.ts';
export { writeFigure } from './write-figure.ts';
