import { describe, expect, it } from 'vitest';
import { FigureError } from '../core/index.ts';
import { checkFigure } from './check-figure.ts';
import type { Figure, FigurePoint } from './figure.ts';

const linear = { label: 'x', scale: 'linear' } as const;
const log = { label: 'x', scale: 'log' } as const;

function figureWith(point: Partial<FigurePoint>, parts: Partial<Figure> = {}): Figure {
  const points = [{ x: 1, y: 1, label: 'λ 1', ...point }];
  const series = [{ name: 'mask', kind: 'measured', points } as const];
  return { id: 'f', title: 't', caption: 'c', x: linear, y: linear, series, ...parts };
}

const refusal = (figure: Figure): unknown => {
  try {
    checkFigure(figure);
  } catch (error) {
    return error;
  }
  return undefined;
};

describe('a figure is refused', () => {
  it.each([NaN, Infinity, -Infinity])('for a value or an end of a spread that is %s, by its point', (wrong) => {
    for (const key of ['x', 'y', 'xLow', 'xHigh', 'yLow', 'yHigh']) {
      const error = refusal(figureWith({ xLow: 1, xHigh: 1, yLow: 1, yHigh: 1, [key]: wrong }));
      expect(error).toBeInstanceOf(FigureError);
      expect(error).toMatchObject({
        code: 'FIGURE',
        message: `f, series "mask", point "λ 1": ${key} is ${wrong}, not a finite number`,
      });
    }
  });

  it('for 0 or less on a logarithmic axis, unless 0 is of a collapsed point', () => {
    for (const axis of ['x', 'y'] as const) {
      const parts = { [axis]: log };
      expect(refusal(figureWith({ [axis]: 0 }, parts))).toMatchObject({ code: 'FIGURE', hint: /isCollapsed/ });
      expect(refusal(figureWith({ [axis]: -1 }, parts))).toMatchObject({ message: /logarithmic/ });
      expect(refusal(figureWith({ [`${axis}Low`]: 0, [`${axis}High`]: 2 }, parts))).toMatchObject({ code: 'FIGURE' });
      expect(refusal(figureWith({ [axis]: -1, isCollapsed: true }, parts))).toMatchObject({ code: 'FIGURE' });
      expect(refusal(figureWith({ [axis]: 0, isCollapsed: true }, parts))).toBeUndefined();
      expect(refusal(figureWith({ [axis]: 0 }))).toBeUndefined();
    }
  });

  it('for half a spread, and for one that is upside down', () => {
    expect(refusal(figureWith({ xLow: 0.5 }))).toMatchObject({ message: /xLow and xHigh one is missing/ });
    expect(refusal(figureWith({ yHigh: 2 }))).toMatchObject({ message: /yLow and yHigh one is missing/ });
    expect(refusal(figureWith({ yLow: 2, yHigh: 1 }))).toMatchObject({ message: /yLow is 2, above yHigh, 1/ });
  });

  it('for an id that leaves its folder or is no file name', () => {
    for (const id of ['', '../figure1', 'a/b', 'figure 1', '.hidden', 'f.svg', 'f\n'])
      expect(refusal(figureWith({}, { id }))).toMatchObject({ code: 'FIGURE', message: /name of its files/ });
  });

  it('without any point, or with two series that nobody can tell apart', () => {
    const [one] = figureWith({}).series;
    expect(refusal(figureWith({}, { series: [{ ...one, points: [] }] }))).toMatchObject({ message: 'f has no points' });
    expect(refusal(figureWith({}, { series: [one, one] }))).toMatchObject({ message: /two measured series/ });
    expect(refusal(figureWith({}, { series: [one, { ...one, kind: 'published' }] }))).toBeUndefined();
  });
});
