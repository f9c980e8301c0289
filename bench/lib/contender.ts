/**
 * A contender in a process of its own. Engines keep threads that spin for a while after each run, so two of them in one
 * process, or at work at the same time, slow each other down. The process answers one JSON line to each JSON line:
 *
 *     parent → {"kind": …}        child → {"ms": 1234.5, …}        first, unasked: {"ready": true, …}
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';

const readySchema = z.looseObject({ ready: z.literal(true) });
const answerSchema = z.looseObject({
  ms: z.number(),
  /** Processor time of all threads. */
  cpuMs: z.number().optional(),
  activeTerms: z.number().optional(),
  /** The most memory that the process has had so far. */
  peakMemoryBytes: z.number().optional(),
  /** Milliseconds by the names of parts. */
  parts: z.record(z.string(), z.number()).optional(),
});

/** One measurement. */
export type Answer = z.infer<typeof answerSchema>;

/** Until spinning threads of the contender before have gone to sleep. */
const REST_MS = 400;

/** A running contender. Close it when done. */
export class Contender {
  readonly name: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #reader: Interface;
  #errors = '';

  /** Starts a program and waits until it is ready. */
  static async start(name: string, command: readonly string[]): Promise<Contender> {
    const contender = new Contender(name, command);
    try {
      readySchema.parse(await contender.#next());
      return contender;
    } catch (error) {
      contender.close();
      throw error;
    }
  }

  private constructor(name: string, [program, ...args]: readonly string[]) {
    this.name = name;
    this.#child = spawn(program, args);
    this.#child.stderr.on('data', (chunk) => {
      this.#errors = (this.#errors + chunk).slice(-2000);
    });
    this.#reader = createInterface({ input: this.#child.stdout });
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }

  /** Asks for one measurement. */
  async measure(request: Readonly<Record<string, unknown>>): Promise<Answer> {
    await pause(REST_MS);
    this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    return answerSchema.parse(await this.#next());
  }

  /** Ends the process. */
  close(): void {
    this.#child.stdin.end();
    this.#reader.close();
    this.#child.kill();
  }

  async #next(): Promise<unknown> {
    const { value, done } = await this.#lines.next();
    if (!done) return JSON.parse(value);
    throw new Error(`${this.name} ended without an answer:\n${this.#errors}`);
  }
}
