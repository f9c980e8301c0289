/**
 * The process that bench/crash.ts kills: changes an index at random and says on stdout what it begins and what has been
 * acknowledged. `crash-writer.ts FOLDER SEED VERSION`; versions of documents count up from VERSION.
 *
 *     {"begin":7,"add":[["doc-3",120],["doc-9",121]]}     {"begin":8,"delete":["doc-3"]}     {"begin":9,"commit":9}
 *     {"end":7}
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../src/core/index.ts';
import { exists } from '../src/files/index.ts';
import { createStore, openWriter, type StoreWriter } from '../src/store/index.ts';
import { documentOf, SPARSE } from '../test/store/documents.ts';

const NUM_IDS = 60;
/** Calls that wait for their acknowledgement at the same time. */
const MAX_PENDING = 4;
/** So small that segments are flushed between commits too. */
const OPTIONS = { bufferBytes: 20_000 };

/** Written at once, so that a line that was said cannot die with the process. */
function say(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

class CrashWriter {
  readonly #writer: StoreWriter;
  readonly #random: Random;
  readonly #pending = new Set<Promise<void>>();
  #version: number;
  #count = 0;

  constructor(writer: StoreWriter, seed: number, version: number) {
    this.#writer = writer;
    this.#random = new Random(seed);
    this.#version = version;
  }

  /** Until killed. */
  async run(): Promise<never> {
    say({ ready: true });
    for (;;) {
      const chance = this.#random.below(100);
      if (chance < 55) this.#add();
      else if (chance < 75) this.#delete();
      else if (chance < 95) this.#commit();
      else this.#begin({ merge: true }, () => this.#writer.merge());
      while (this.#pending.size >= 1 + this.#random.below(MAX_PENDING)) await Promise.race(this.#pending);
    }
  }

  #add(): void {
    const added = Array.from({ length: 1 + this.#random.below(8) }, () => [this.#id(), this.#version++] as const);
    this.#begin({ add: added }, () => this.#writer.add(added.map(([id, version]) => documentOf(id, version))));
  }

  #delete(): void {
    const ids = Array.from({ length: 1 + this.#random.below(4) }, () => this.#id());
    this.#begin({ delete: ids }, () => this.#writer.delete(ids));
  }

  #commit(): void {
    const state = this.#version++;
    this.#begin({ commit: state }, () => this.#writer.commit(state));
  }

  #begin(what: object, call: () => Promise<unknown>): void {
    const number = this.#count++;
    say({ begin: number, ...what });
    const done = call().then(() => {
      say({ end: number });
      this.#pending.delete(done);
    });
    this.#pending.add(done);
  }

  #id(): string {
    return `doc-${this.#random.below(NUM_IDS)}`;
  }
}

const [folder, seed, version] = process.argv.slice(2);
const isThere = await exists(join(folder, 'manifest.json'));
const writer = isThere ? await openWriter(folder, OPTIONS) : await createStore(folder, SPARSE, OPTIONS);
await new CrashWriter(writer, Number(seed), Number(version)).run();
