/**
 * Who wants to be drawn, a few of them a frame: many charts that change together keep the page smooth, and those that had no
 * turn come first in the next frame. How many is told by how long frames take, since most of the work of drawing is done by
 * the browser after we have asked for it.
 */

/** Something on the page that can be drawn. */
export type Drawable = { draw(): void };

const MOST_A_FRAME = 12;
/** Longer frames are seen: one and a half of sixty a second. */
const SMOOTH_MS = 25;

const waiting = new Set<Drawable>();
let numAFrame = MOST_A_FRAME / 2;
let isPlanned = false;
/** When the frame before was, where charts were drawn in it. */
let lastMs: number | undefined;

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
  requestAnimationFrame(drawFrame);
}

function drawFrame(nowMs: number): void {
  isPlanned = false;
  if (lastMs !== undefined) {
    const isSmooth = nowMs - lastMs < SMOOTH_MS;
    numAFrame = isSmooth ? Math.min(MOST_A_FRAME, numAFrame + 1) : Math.max(1, Math.floor(numAFrame / 2));
  }
  lastMs = waiting.size > 0 ? nowMs : undefined;
  for (const one of [...waiting].slice(0, numAFrame)) {
    waiting.delete(one);
    one.draw();
  }
  if (lastMs !== undefined) plan();
}
