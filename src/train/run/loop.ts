/**
 * A run from its first step to its model: steps, lines of metrics, evaluations, checkpoints, alarms, and an end that may
 * come early. Whatever it decides depends on the state alone, which a checkpoint holds: a run that was killed and goes on
 * gives the numbers of one that never was.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert, InterruptedError } from '../../core/index.ts';
import type { TrainingBatch } from '../batches/training-batch.ts';
import type { RunConfig } from '../states-config.ts';
import type { Metrics, TrainListener, TrainOutcome } from './events.ts';
import { type Alarm, alarmError } from './guards.ts';
import { MetricsMeter } from './metrics-meter.ts';
import type { EngineGate, Prepared } from './prepare.ts';
import { progressOf } from './prepare.ts';
import type { RunFolder } from './run-folder.ts';
import { FIRST_STATE, loadState, type RunState, saveState, stateBytes } from './run-state.ts';
import type { RunEvaluation } from './task.ts';

/** What a run is given. */
export type LoopParts = {
  readonly config: RunConfig;
  readonly prepared: Prepared;
  readonly folder: RunFolder;
  readonly listener: TrainListener;
  /** Asks it to save and stop after the step at hand. */
  readonly signal: AbortSignal;
  /** Milliseconds, from any beginning. */
  readonly clock: () => number;
  readonly gate: EngineGate;
};

/** One run. */
export class TrainingLoop {
  readonly #parts: LoopParts;
  #state: RunState = FIRST_STATE;
  #meter = new MetricsMeter(FIRST_STATE.pending);
  /** Whether the newest checkpoint holds the state; that of a run that has not begun needs none. */
  #isSaved = true;
  /** Since the last line: documents and the milliseconds that their steps took. */
  #pace = { numDocs: 0, numTokens: 0, ms: 0 };

  constructor(parts: LoopParts) {
    this.#parts = parts;
  }

  /** Goes on where the folder's newest checkpoint is, to the end. */
  async run(): Promise<TrainOutcome> {
    const { config, folder, prepared, listener } = this.#parts;
    const isBegun = await this.#restore();
    try {
      await this.#requireRoom();
      if (this.#state.step === 0) await this.#checkFirstBatch();
    } catch (error) {
      if (!isBegun && !(error instanceof InterruptedError)) await folder.abandon();
      throw error;
    }
    for (const message of prepared.task.warnings) listener({ kind: 'note', level: 'warn', message });
    listener({ kind: 'begin', step: this.#state.step, steps: config.optim.steps });
    const batches = prepared.data.batches(this.#state.step);
    try {
      await this.#goOn(batches);
    } finally {
      await batches.return(undefined);
    }
    return await this.#finish(folder);
  }

  /** False where there is no checkpoint. */
  async #restore(): Promise<boolean> {
    const { folder, prepared, listener } = this.#parts;
    const path = await folder.lastCheckpoint();
    if (path !== undefined) {
      this.#state = await loadState(path, prepared.task.trained);
      listener({
        kind: 'note',
        level: 'info',
        message: `going on after step ${this.#state.step.toLocaleString('en')}`,
      });
    }
    this.#meter = new MetricsMeter(this.#state.pending);
    const { step, last } = this.#state;
    await folder.cutMetrics(path === undefined ? -1 : step, last?.step ?? -1);
    return path !== undefined;
  }

  /** Two checkpoints while one replaces the other, and models: best, the one that replaces it, and the finished one. */
  async #requireRoom(): Promise<void> {
    const { config, prepared, folder } = this.#parts;
    const { trained } = prepared.task;
    let numWeights = 0;
    for (const { weights } of trained.parameters.all) numWeights += weights.length;
    const modelBytes = numWeights * Float32Array.BYTES_PER_ELEMENT;
    await folder.requireRoom((config.output.keepCheckpoints + 1) * stateBytes(trained) + 3 * modelBytes);
  }

  async #checkFirstBatch(): Promise<void> {
    const { prepared, listener, gate } = this.#parts;
    const batches = prepared.data.batches(0);
    const first = await batches.next().finally(() => batches.return(undefined));
    if (first.done) return;
    const { task } = prepared;
    const batch = await this.#taught(first.value);
    const { note, alarm } = await gate(() => task.lookAt(batch));
    listener({ kind: 'note', level: 'info', message: note });
    if (alarm) await this.#logAlarm(0, alarm);
    this.#raise(alarm);
  }

  async #goOn(batches: AsyncGenerator<TrainingBatch>): Promise<void> {
    const { config, signal } = this.#parts;
    try {
      for (;;) {
        if (this.#isEvaluationDue()) await this.#evaluate();
        if (this.#isCheckpointDue()) await this.#save();
        if (this.#state.step >= config.optim.steps || this.#isOutOfPatience()) return;
        await nextTurn(); // steps block the thread: here it hears of an interruption
        if (signal.aborted) throw new InterruptedError();
        const { value } = await batches.next();
        await this.#step(value);
      }
    } catch (error) {
      if (!(error instanceof InterruptedError)) throw error;
      if (!this.#isSaved) await this.#save();
      throw new InterruptedError(`stopped after step ${this.#state.step.toLocaleString('en')}, which is saved`, {
        hint: 'go on with --resume',
      });
    }
  }

  async #step(batch: TrainingBatch): Promise<void> {
    const { config, prepared, listener, clock, gate } = this.#parts;
    const began = clock();
    const taught = await this.#taught(batch);
    const { figures, metrics, docLens, check } = await gate(() => prepared.task.step(taught, this.#state.step));
    this.#pace.ms += clock() - began;
    this.#pace.numDocs += figures.numDocs;
    this.#pace.numTokens += figures.numTokens;
    const step = this.#state.step + 1;
    const { numDead, alarm } = check(this.#state.numDead);
    if (alarm) await this.#logAlarm(step, alarm);
    this.#raise(alarm);
    this.#meter.add(metrics, docLens);
    this.#state = { ...this.#state, step, numDead };
    this.#isSaved = false;
    listener({ kind: 'step', step, metrics: { ...metrics, ...this.#speed() } });
    if (step % config.output.logEvery === 0 || step === config.optim.steps) await this.#logLine(step);
  }

  /** The batch, with what teachers say of it. */
  async #taught(batch: TrainingBatch): Promise<TrainingBatch> {
    const { prepared, gate, signal } = this.#parts;
    return await gate(async () => (await prepared.teachers?.teach(batch, signal)) ?? batch);
  }

  async #logLine(step: number): Promise<void> {
    const { means, docLens } = this.#meter.take();
    const lengths = Object.keys(docLens).length > 0 ? { docLens } : {}; // of documents that have terms
    await this.#parts.folder.log({ step, ...means, ...this.#speed(), ...lengths });
    this.#pace = { numDocs: 0, numTokens: 0, ms: 0 };
  }

  #speed(): Metrics {
    const { numDocs, numTokens, ms } = this.#pace;
    return { docsPerSecond: (1000 * numDocs) / ms, tokensPerSecond: (1000 * numTokens) / ms };
  }

  /** Before the first step, every so many steps, and after the last; once. */
  #isEvaluationDue(): boolean {
    const { evaluate, optim } = this.#parts.config;
    const { step, last } = this.#state;
    return evaluate !== undefined && last?.step !== step && (step % evaluate.every === 0 || step === optim.steps);
  }

  async #evaluate(): Promise<void> {
    const { config, folder, listener, prepared } = this.#parts;
    const { task } = prepared;
    const { step } = this.#state;
    const candidate = folder.candidate;
    await this.#write(candidate);
    const { values, pinned } = await this.#measure(candidate);
    const isCollapsed = task.isCollapsed(values);
    const before = this.#state.best?.values[task.bestBy] ?? Number.NEGATIVE_INFINITY;
    const isBest = !isCollapsed && this.#countsAsBest() && before < values[task.bestBy];
    if (isBest && config.evaluate?.keep === 'best') await this.#write(folder.best, values);
    const numCollapsed = isCollapsed ? this.#state.numCollapsed + 1 : 0;
    this.#state = {
      ...this.#state,
      last: { step, values },
      best: isBest ? { step, values } : this.#state.best,
      numSinceBest: isBest || !this.#countsAsBest() ? 0 : this.#state.numSinceBest + 1,
      numCollapsed,
    };
    this.#isSaved = false;
    const alarm = task.collapse(numCollapsed, values);
    await folder.log({ step, evaluation: values, ...(pinned && { pinned }), ...(alarm && { alarm: alarm.message }) });
    listener({ kind: 'evaluation', step, values, isBest });
    this.#raise(alarm);
  }

  async #write(path: string, evaluation?: Metrics): Promise<void> {
    const { prepared, folder } = this.#parts;
    await prepared.task.write(path, { name: folder.name, step: this.#state.step, evaluation });
  }

  async #measure(model: string): Promise<RunEvaluation> {
    const { prepared, folder, listener, signal, gate } = this.#parts;
    const { threads, task } = prepared;
    const { evaluator } = task;
    assert(evaluator !== undefined, 'an evaluation without a collection');
    const progress = progressOf(listener);
    progress.start({ label: 'evaluating', unit: 'documents', total: evaluator.numDocs });
    const onProgress = (numDone: number) => progress.update(numDone);
    try {
      return await gate(() => evaluator.evaluate(model, folder.scratch, { threads, signal, onProgress }));
    } finally {
      progress.stop();
    }
  }

  #countsAsBest(): boolean {
    const { config, prepared } = this.#parts;
    const { step } = this.#state;
    return step > 0 && (step >= prepared.task.settledAt || step >= config.optim.steps);
  }

  #isOutOfPatience(): boolean {
    const patience = this.#parts.config.evaluate?.patience ?? null;
    return patience !== null && this.#state.numSinceBest >= patience;
  }

  #isCheckpointDue(): boolean {
    const { output, optim } = this.#parts.config;
    const { step } = this.#state;
    return !this.#isSaved && step > 0 && (step % output.checkpointEvery === 0 || step === optim.steps);
  }

  async #save(): Promise<void> {
    const { config, prepared, folder, listener } = this.#parts;
    const { step } = this.#state;
    await saveState(folder.checkpoint(step), prepared.task.trained, {
      ...this.#state,
      pending: this.#meter.pending,
    });
    await folder.dropOldCheckpoints(config.output.keepCheckpoints);
    this.#isSaved = true;
    listener({ kind: 'checkpoint', step });
  }

  /** Says what is wrong, and ends the run unless told otherwise; numbers that are not finite cannot be gone on with. */
  #raise(alarm: Alarm | undefined): void {
    if (!alarm) return;
    const { config, listener } = this.#parts;
    const goesOn = 'onCollapse' in config.output && config.output.onCollapse === 'continue';
    if (!goesOn || alarm.isFatal) throw alarmError(alarm);
    listener({ kind: 'note', level: 'warn', message: `${alarm.message} (${alarm.hint})` });
  }

  async #logAlarm(step: number, { message }: Alarm): Promise<void> {
    await this.#parts.folder.log({ step, alarm: message });
  }

  async #finish(folder: RunFolder): Promise<TrainOutcome> {
    const { config } = this.#parts;
    const { step, best, last } = this.#state;
    const keepsBest = config.evaluate?.keep === 'best' && best !== null;
    if (keepsBest) await folder.keepBest();
    else await this.#write(folder.model, last?.step === step ? last.values : undefined);
    await folder.dropScratch();
    return {
      folder: folder.path,
      model: folder.model,
      steps: step,
      stoppedEarly: step < config.optim.steps,
      evaluation: (keepsBest ? best : last) ?? undefined,
    };
  }
}
