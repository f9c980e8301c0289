/** A figure as plain data: what callers hand in. Knows nothing of how it is drawn. */

/** A point of a series. */
export type FigurePoint = {
  readonly x: number;
  readonly y: number;
  /** Spread over seeds, shown as error bars; left out for a single run. */
  readonly xLow?: number;
  readonly xHigh?: number;
  readonly yLow?: number;
  readonly yHigh?: number;
  /** What it is, for the tooltip and the CSV: "λ 0.04, t 200". */
  readonly label: string;
  /**
   * Marked with an x, outside of the line of its series and of the Pareto front. It alone may be 0 on a logarithmic axis,
   * which has no such place: it is drawn at the axis' low edge, and the legend says so.
   */
  readonly isCollapsed?: boolean;
};

/** Points that belong together; a line joins them in their order. */
export type FigureSeries = {
  /** Series of one name, measured and published, have one colour and one shape. */
  readonly name: string;
  /** published: from the paper, drawn hollow and dashed. */
  readonly kind: 'measured' | 'published';
  readonly points: readonly FigurePoint[];
};

/** An axis. */
export type FigureAxis = { readonly label: string; readonly scale: 'linear' | 'log' };

/** Which direction is better on each axis. */
export type Better = { readonly x: 'less' | 'more'; readonly y: 'less' | 'more' };

/** A figure. */
export type Figure = {
  /** The name of its files, and of nothing else: letters, digits, `-` and `_`. */
  readonly id: string;
  readonly title: string;
  readonly caption: string;
  readonly x: FigureAxis;
  readonly y: FigureAxis;
  readonly series: readonly FigureSeries[];
  /** Draws the Pareto front of the measured points: which direction is better on each axis. */
  readonly pareto?: Better;
};
