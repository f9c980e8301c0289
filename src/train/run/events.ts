/** What a run tells while it goes on, as plain data that can cross threads. */

/** Numbers of a step or of the mean of several, by the names of metrics.jsonl. */
export type Metrics = Readonly<Record<string, number>>;

/** Something that happened. */
export type TrainEvent =
  | { readonly kind: 'note'; readonly level: 'info' | 'warn'; readonly message: string }
  /** The first step is next. */
  | { readonly kind: 'begin'; readonly step: number; readonly steps: number }
  | { readonly kind: 'step'; readonly step: number; readonly metrics: Metrics }
  | { readonly kind: 'evaluation'; readonly step: number; readonly values: Metrics; readonly isBest: boolean }
  | { readonly kind: 'checkpoint'; readonly step: number }
  /** Work beside the steps: reading data, encoding the development collection. `done` of `total`; over at undefined. */
  | {
      readonly kind: 'work';
      readonly label: string;
      readonly unit: string;
      readonly total?: number;
      readonly done: number;
    }
  | { readonly kind: 'work-over' };

/** Who is told. */
export type TrainListener = (event: TrainEvent) => void;

/** How a run ended. */
export type TrainOutcome = {
  /** The run's folder. */
  readonly folder: string;
  /** The finished model. */
  readonly model: string;
  /** Steps done. */
  readonly steps: number;
  /** Whether it ended before its last step, because nothing got better. */
  readonly stoppedEarly: boolean;
  /** The evaluation of the finished model, where there was one, and the step that it was made after. */
  readonly evaluation: { readonly step: number; readonly values: Metrics } | undefined;
};
