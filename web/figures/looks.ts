/** Colours of a drawing: by value in SVG files, which other programs read, by name in the page, which has a style sheet. */
import { NUM_COLOURS } from '../../src/figures/drawing.ts';
import { LIGHT_COLOURS } from '../../src/figures/html-style.ts';

/** Colours of a drawing. */
export type Look = {
  readonly paper: string;
  readonly ink: string;
  readonly quiet: string;
  /** Of series, by number. */
  readonly series: readonly string[];
};

/** Light, whatever the reader prefers: paper is white. */
export const FILE_LOOK: Look = { paper: '#ffffff', ink: '#1f2328', quiet: '#57606a', series: LIGHT_COLOURS };

/** The variables of src/figures/html-style.ts, light or dark as the reader has it. */
export const PAGE_LOOK: Look = {
  paper: 'var(--page)',
  ink: 'var(--text)',
  quiet: 'var(--quiet)',
  series: Array.from({ length: NUM_COLOURS }, (_, i) => `var(--series-${i})`),
};
