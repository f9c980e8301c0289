/**
 * What a person sees of a run: on a terminal a few lines that are drawn again in place, with the curves so far; elsewhere a
 * plain line every ten seconds. Evaluations and notes stay above it.
 */
import type { Progress } from '../core/index.ts';
import { RateMeter } from '../core/index.ts';
import type { Metrics, TrainEvent } from '../train/index.ts';
import type { CliContext } from './context.ts';
import { formatCount, formatDuration, formatRate } from './format.ts';
import { Curve, sparkline } from './sparkline.ts';

const REDRAW_MS = 200;
const PLAIN_LINE_MS = 10_000;
const SPARK_WIDTH = 24;
/** Numbers kept for each curve; when there are more, neighbours become one. */
const MAX_POINTS = 512;

/** Shows the events of a run. */
export class TrainingView {
  readonly #context: CliContext;
  #meter = new RateMeter();
  readonly #curves = new Map<string, Curve>();
  #work: Progress | undefined;
  #workLabel = '';
  #steps = 0;
  #drawnMs = Number.NEGATIVE_INFINITY;

  constructor(context: CliContext) {
    this.#context = context;
  }

  /** Shows one event. */
  show(event: TrainEvent): void {
    const { logger } = this.#context;
    switch (event.kind) {
      case 'note':
        logger[event.level](event.message);
        break;
      case 'begin':
        this.#steps = event.steps;
        this.#restartClock(event.step);
        break;
      case 'step':
        this.#showStep(event.step, event.metrics);
        break;
      case 'evaluation':
        logger.info(`${evaluationText(event)}${event.isBest ? ', the best so far' : ''}`);
        this.#restartClock(event.step);
        break;
      case 'checkpoint':
        logger.debug(`checkpoint after step ${formatCount(event.step)}`);
        break;
      case 'work':
        this.#showWork(event);
        break;
      case 'work-over':
        this.#endWork();
        break;
      default:
        event satisfies never;
    }
  }

  /** Leaves the terminal as it was. */
  close(): void {
    this.#endWork();
    this.#context.terminal.clearStatus();
  }

  /** The time left is told from the pace of steps alone. */
  #restartClock(step: number): void {
    this.#meter = new RateMeter();
    this.#meter.mark(this.#context.clock(), step);
  }

  #showWork({ label, unit, total, done }: Extract<TrainEvent, { kind: 'work' }>): void {
    if (label !== this.#workLabel) {
      this.#endWork();
      this.#workLabel = label;
      this.#work = this.#context.progress();
      this.#work.start({ label, unit, total, done });
    } else this.#work?.update(done);
  }

  #endWork(): void {
    this.#work?.stop();
    this.#work = undefined;
    this.#workLabel = '';
  }

  #showStep(step: number, metrics: Metrics): void {
    for (const name of ['loss', 'docLen']) if (name in metrics) this.#addPoint(name, metrics[name]);
    const { terminal, clock, options } = this.#context;
    const now = clock();
    const interval = terminal.isInteractive ? REDRAW_MS : PLAIN_LINE_MS;
    if (options.quiet || (now - this.#drawnMs < interval && step < this.#steps)) return;
    this.#drawnMs = now;
    this.#meter.mark(now, step);
    const lines = this.#lines(step, metrics);
    if (terminal.isInteractive)
      terminal.showStatus(lines.map((line) => line.slice(0, terminal.columns - 1)).join('\n'));
    else terminal.printLine(lines.map((line) => line.trim()).join('  '));
  }

  #addPoint(name: string, value: number): void {
    const curve = this.#curves.get(name) ?? new Curve(MAX_POINTS);
    curve.add(value);
    this.#curves.set(name, curve);
  }

  #lines(step: number, metrics: Metrics): string[] {
    const left = this.#meter.secondsLeft(this.#steps);
    const eta = left === undefined ? '' : `  ETA ${formatDuration(left)}`;
    const curve = (name: string): string =>
      this.#context.terminal.isInteractive ? ` ${sparkline(this.#curves.get(name)?.points ?? [], SPARK_WIDTH)}` : '';
    const named = Object.entries(metrics).filter(([name]) => !SHOWN_ELSEWHERE.has(name));
    const rate = `rate ${short(metrics.learningRate)}`;
    const lengths =
      'docLen' in metrics
        ? `Doc_Len ${metrics.docLen.toFixed(1)}${curve('docLen')}  masked ${percent(metrics.maskedShare)}  λ ${short(metrics.lambda)}  `
        : '';
    return [
      `step ${formatCount(step)}/${formatCount(this.#steps)}  ${formatRate(metrics.docsPerSecond).replace('/', ' docs/')}${eta}`,
      `loss ${short(metrics.loss)}${curve('loss')}  ${named.map(([name, value]) => `${name} ${short(value)}`).join('  ')}`,
      `${lengths}${rate}`,
    ];
  }
}

/** What has a place of its own in the lines, or says nothing at a glance. */
const SHOWN_ELSEWHERE = new Set([
  'loss',
  'rank',
  'docLen',
  'maskedShare',
  'emptyShare',
  'lambda',
  'learningRate',
  'docsPerSecond',
  'tokensPerSecond',
]);

/** Values of evaluations that are shown, each with its label and digits. */
const EVALUATED = [
  ['cosine', 'cosine', 4],
  ['ndcg@10', 'NDCG@10', 4],
  ['flops', 'FLOPS', 2],
  ['docLen', 'Doc_Len', 1],
] as const;

/** An evaluation in one line. */
export function evaluationText({ step, values }: { readonly step: number; readonly values: Metrics }): string {
  const shown = EVALUATED.filter(([name]) => name in values);
  const texts = shown.map(([name, label, digits]) => `${label} ${values[name].toFixed(digits)}`);
  return `after step ${formatCount(step)}: ${texts.join(', ')}`;
}

function short(value: number): string {
  if (value === 0) return '0';
  return Math.abs(value) >= 0.001 && Math.abs(value) < 1e5
    ? String(Number(value.toPrecision(4)))
    : value.toExponential(1);
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
