/** Scales, axes and grid of a drawing. */
import * as Plot from '@observablehq/plot';
import type { Drawing, DrawnAxis } from '../../src/figures/drawing.ts';
import { tickFormat, ticksOf } from './ticks.ts';

/** A range as it is: what lies at its ends is drawn there, so nothing may round it. */
export function scaleOptions({ scale, domain }: DrawnAxis): Plot.ScaleOptions {
  return { type: scale, domain: [...domain] };
}

/** Pixels between the axes of a drawing. */
export type Room = { readonly across: number; readonly down: number };

const GAP = { x: 44, y: 32 };

/** Pixels left of the y axis that its numbers and its label take. */
export function leftMargin({ y }: Drawing, { down }: Pick<Room, 'down'>): number {
  const ticks = ticksOf(y, down, GAP.y);
  const longest = Math.max(...ticks.map((tick) => tickFormat(y, ticks)(tick).length));
  return Math.max(56, 32 + 7 * longest);
}

/** Texts are given, not formatted by Plot: it leaves out some numbers of a logarithmic axis, whatever the format. */
export function axisMarks({ x, y }: Drawing, { across, down }: Room): Plot.Markish[] {
  const [ticksX, ticksY] = [ticksOf(x, across, GAP.x), ticksOf(y, down, GAP.y)];
  const place = { labelAnchor: 'center', labelArrow: 'none' } as const;
  return [
    Plot.gridX(ticksX),
    Plot.gridY(ticksY),
    Plot.axisX(ticksX, { ...place, label: x.label, text: tickFormat(x, ticksX) }),
    Plot.axisY(ticksY, { ...place, label: y.label, text: tickFormat(y, ticksY) }),
  ];
}
