/** Colours of what is drawn: by the reader's preference on the page, always light in files that are saved. */
import { useEffect, useState } from 'preact/hooks';

/** Colours of a drawing. */
export type Theme = {
  readonly paper: string;
  readonly ink: string;
  readonly quiet: string;
  readonly grid: string;
  readonly alarm: string;
  /** Of runs, in order; then again from the first, with dashes. */
  readonly runs: readonly string[];
};

/** Each colour has a contrast of 4.5 or more against the paper. */
export const LIGHT: Theme = {
  paper: '#ffffff',
  ink: '#1f2328',
  quiet: '#59636e',
  grid: '#e4e8ec',
  alarm: '#cf222e',
  runs: ['#0969da', '#b45309', '#1a7f37', '#8250df', '#bf3989', '#0e7490', '#7d4e00', '#57606a'],
};

/** The same on dark paper. */
export const DARK: Theme = {
  paper: '#161b22',
  ink: '#e6edf3',
  quiet: '#9da7b1',
  grid: '#2b323b',
  alarm: '#ff7b72',
  runs: ['#58a6ff', '#f0a04b', '#3fb950', '#bc8cff', '#f778ba', '#39c5cf', '#d8b36a', '#a5adb5'],
};

/** Pixels drawn and left out by turns: of the runs that have each colour first, then of those that have it again. */
const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [7, 3, 2, 3]];

/** How the line of a run looks. */
export type Stroke = {
  readonly colour: string;
  /** Empty for an unbroken line. */
  readonly dash: readonly number[];
};

/** The line of a run: no two of 32 runs have the same. */
export function strokeOf({ runs }: Theme, id: number): Stroke {
  return { colour: runs[id % runs.length], dash: DASHES[Math.floor(id / runs.length) % DASHES.length] };
}

/** What stands beside the name of a run, as the background of an element: its colour, in stripes as its line has dashes. */
export function swatchOf(theme: Theme, id: number): string {
  const { colour, dash } = strokeOf(theme, id);
  if (dash.length === 0) return colour;
  const edge = (i: number): number => dash.slice(0, i).reduce((sum, length) => sum + length, 0);
  const stripes = dash.map((_, i) => `${i % 2 === 0 ? colour : 'transparent'} ${edge(i)}px ${edge(i + 1)}px`);
  return `repeating-linear-gradient(90deg, ${stripes.join(', ')})`;
}

/** The theme that the reader prefers, as long as that lasts. */
export function useTheme(): Theme {
  const [query] = useState(() => matchMedia('(prefers-color-scheme: dark)'));
  const [isDark, setDark] = useState(query.matches);
  useEffect(() => {
    const change = (): void => setDark(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, [query]);
  return isDark ? DARK : LIGHT;
}
