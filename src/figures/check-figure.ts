/** What a figure must be before anything is drawn of it. A wrong point is an error that names it. */
import { FigureError, quoted } from '../core/index.ts';
import type { Figure, FigureAxis, FigurePoint, FigureSeries } from './figure.ts';

/** Throws FigureError for a figure that cannot be drawn as it says. */
export function checkFigure(figure: Figure): void {
  const { id, series } = figure;
  if (!/^[A-Za-z0-9][\w-]*$/.test(id))
    throw new FigureError(`a figure's id is the name of its files, and ${quoted(id)} cannot be one`, {
      hint: 'use letters, digits, - and _',
    });
  if (series.every(({ points }) => points.length === 0)) throw new FigureError(`${id} has no points`);
  checkNames(figure);
  for (const one of series) for (const point of one.points) checkPoint(figure, one, point);
}

function checkNames({ id, series }: Figure): void {
  const seen = new Set<string>();
  for (const { name, kind } of series) {
    const key = `${kind} ${name}`;
    if (seen.has(key)) throw new FigureError(`${id} has two ${kind} series that are called ${quoted(name)}`);
    seen.add(key);
  }
}

function checkPoint(figure: Figure, { name }: FigureSeries, point: FigurePoint): void {
  const where = `${figure.id}, series ${quoted(name)}, point ${quoted(point.label)}`;
  const { x, xLow, xHigh, y, yLow, yHigh, isCollapsed = false } = point;
  checkValues({ axis: 'x', value: x, low: xLow, high: xHigh }, { where, isCollapsed, scale: figure.x.scale });
  checkValues({ axis: 'y', value: y, low: yLow, high: yHigh }, { where, isCollapsed, scale: figure.y.scale });
}

type Values = {
  readonly axis: 'x' | 'y';
  readonly value: number;
  readonly low: number | undefined;
  readonly high: number | undefined;
};

function checkValues(
  { axis, value, low, high }: Values,
  { where, isCollapsed, scale }: { where: string; isCollapsed: boolean; scale: FigureAxis['scale'] },
): void {
  const given = Object.entries({ [axis]: value, [`${axis}Low`]: low, [`${axis}High`]: high }).filter(
    (entry): entry is [string, number] => entry[1] !== undefined,
  );
  for (const [key, number] of given) {
    if (!Number.isFinite(number)) throw new FigureError(`${where}: ${key} is ${number}, not a finite number`);
    if (scale === 'log' && (isCollapsed ? number < 0 : number <= 0))
      throw new FigureError(`${where}: ${key} is ${number}, which has no place on a logarithmic axis`, {
        hint: number === 0 ? 'only collapsed points may be 0 there: isCollapsed' : 'use a linear axis',
      });
  }
  if ((low === undefined) !== (high === undefined))
    throw new FigureError(`${where}: of ${axis}Low and ${axis}High one is missing`);
  if (low !== undefined && high !== undefined && low > high)
    throw new FigureError(`${where}: ${axis}Low is ${low}, above ${axis}High, ${high}`);
}
