/** Where the results of a box hang: below it, as near to its beginning as the window allows. */

/** Room that is left to the edges of the window. */
const MARGIN_PX = 8;
const LEAST_HEIGHT_PX = 240;

/** A box in its window, in pixels. */
export type Surroundings = {
  readonly box: { readonly left: number; readonly right: number; readonly bottom: number };
  readonly panelWidth: number;
  readonly window: { readonly width: number; readonly height: number };
  readonly isRightToLeft: boolean;
};

/** How far the panel is from the left edge of the box, and how high it may be. */
export function panelPlace({ box, panelWidth, window, isRightToLeft }: Surroundings): {
  left: number;
  maxHeight: number;
} {
  const wanted = isRightToLeft ? box.right - panelWidth : box.left;
  const left = Math.max(MARGIN_PX, Math.min(wanted, window.width - panelWidth - MARGIN_PX));
  return {
    left: left - box.left,
    maxHeight: Math.max(LEAST_HEIGHT_PX, window.height - box.bottom - 2 * MARGIN_PX),
  };
}
