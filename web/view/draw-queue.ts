/**
 * Who wants to be drawn, a few milliseconds' worth of them a frame: many charts that change together keep the page smooth,
 * and those that had no turn come first in the next frame.
 */

/** Something on the page that can be drawn. */
export type Drawable = { draw(): void };

const BUDGET_MS = 7;

const waiting = new Set<Drawable>();
let isPlanned = false;

/** Draws it in one of the next frames, once, however often it is asked for until then. */
export function drawSoon(one: Drawable): void {
  waiting.add(one);
  plan();
}

/** Forgets it. */
export function drawNever(one: Drawable): void {
  waiting.delete(one);
}

function plan(): void {
  if (isPlanned) return;
  isPlanned = true;
  requestAnimationFrame(() => {
    isPlanned = false;
    const began = performance.now();
    for (const one of waiting) {
      waiting.delete(one);
      one.draw();
      if (performance.now() - began > BUDGET_MS) break;
    }
    if (waiting.size > 0) plan();
  });
}
