/**
 * The one writer of an index: adds, updates, deletes, commits, merges. What is acknowledged is in the log; what is
 * committed is in segments that a manifest names; what readers see is always one whole commit. Knows nothing of scores.
 *
 *     add, delete ─ log ─ buffer ─ (full, or commit) ─ segment ─ (commit) ─ manifest
 *                              └ tombstones of earlier segments ─┘
 */
import { IndexStateError, type Logger, silentLogger } from '../core/index.ts';
import type { Lock } from '../files/index.ts';
import { openIfThere } from './byte-files.ts';
import { PageCache } from './cached-source.ts';
import { publish, UncertainCommitError } from './commit.ts';
import { logPath } from './layout.ts';
import { readLog } from './log-format.ts';
import { addRecord, batchRecord, deleteRecord, type LoggedChange, readChanges } from './log-records.ts';
import { LogWriter, type NewLogRecord } from './log-writer.ts';
import { type Manifest, numLiveDocs, type SegmentEntry, type StoreSettings, type UserState } from './manifest.ts';
import { runMerge } from './merge-job.ts';
import { MAX_SEGMENT_BYTES, type MergeRange, planFullMerge, planTieredMerge } from './merge-plan.ts';
import { type MergeCall, Merger } from './merger.ts';
import { allParts, leftoverParts, type PageHolder } from './page-parts.ts';
import { writeSegment } from './segment-files.ts';
import { checkNewDocument, formatOf, type NewDocument } from './segment-parts.ts';
import { remapTombstones } from './tombstones.ts';
import { Turns } from './turns.ts';
import { WriteBuffer } from './write-buffer.ts';
import { WriterSegment } from './writer-segment.ts';

/** How to write. */
export type WriterOptions = {
  /** Off: adds and deletes are durable at the next commit only. For building, where the input is still there. */
  readonly log?: boolean | undefined;
  /** Documents become a segment when they take this many bytes, about. */
  readonly bufferBytes?: number | undefined;
  /** Whether to merge in the background after commits. */
  readonly autoMerge?: boolean | undefined;
  /** Merged segments are kept below this size of postings. */
  readonly maxSegmentBytes?: number | undefined;
  /** Told of failed merges in the background, and of a log with a doubtful end. */
  readonly logger?: Logger | undefined;
};

/** With what writing a segment takes besides, memory stays well below 1 GB. */
const DEFAULT_BUFFER_BYTES = 128 * 2 ** 20;

/** Options with all defaults filled in. */
type ChosenOptions = { readonly [Name in keyof WriterOptions]-?: Exclude<WriterOptions[Name], undefined> };

/** What an add did. */
export type AddSummary = { readonly numNew: number; readonly numReplaced: number };

/** How documents are added. */
export type StoreAddOptions = {
  /** The documents are whole pages: parts that the index has of them besides go with the same call. */
  readonly replacePages?: boolean | undefined;
};

/** What a writer begins with. */
export type WriterStart = { readonly folder: string; readonly manifest: Manifest; readonly lock: Lock };

/** Writes an index. Close it: it holds the lock. */
export class StoreWriter {
  readonly #folder: string;
  readonly #lock: Lock;
  readonly #options: ChosenOptions;
  readonly #buffer = new WriteBuffer();
  readonly #idCache = PageCache.forIds();
  /** Adds, deletes, commits and the ends of merges, one at a time. */
  readonly #turns = new Turns();
  readonly #merger: Merger<readonly WriterSegment[]>;
  #manifest: Manifest;
  /** Committed ones, then those that the next commit makes visible. */
  #segments: readonly WriterSegment[];
  #nextSegment: number;
  #log: LogWriter | undefined;
  #closed: Promise<void> | undefined;
  #failure: Error | undefined;

  /** Opens what the last commit has and does again what the log says came after it. For `openWriter`. */
  static async start(start: WriterStart, options: WriterOptions): Promise<StoreWriter> {
    const writer = new StoreWriter(start, options);
    try {
      await writer.#replay();
      return writer;
    } catch (error) {
      for (const segment of writer.#segments) segment.close();
      throw error;
    }
  }

  private constructor({ folder, manifest, lock }: WriterStart, options: WriterOptions) {
    this.#folder = folder;
    this.#lock = lock;
    this.#manifest = manifest;
    this.#nextSegment = manifest.nextSegment;
    this.#options = {
      log: options.log ?? true,
      bufferBytes: options.bufferBytes ?? DEFAULT_BUFFER_BYTES,
      autoMerge: options.autoMerge ?? true,
      maxSegmentBytes: options.maxSegmentBytes ?? MAX_SEGMENT_BYTES,
      logger: options.logger ?? silentLogger,
    };
    this.#segments = openAll(folder, manifest, this.#idCache);
    this.#merger = new Merger({
      next: () => this.#nextMerge(),
      merge: (group, call) => this.#merge(group, call),
      logger: this.#options.logger,
    });
  }

  /** What was fixed when the index was made. */
  get settings(): StoreSettings {
    return this.#manifest;
  }

  /** Counts commits and merges. */
  get generation(): number {
    return this.#manifest.generation;
  }

  /** What the last commit that gave one has committed with the documents; null before. */
  get userState(): UserState {
    return this.#manifest.userState;
  }

  /** Documents of the last commit. */
  get numCommitted(): number {
    return numLiveDocs(this.#manifest);
  }

  /** Documents that the next commit would have. */
  get numDocs(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.numLive, this.#buffer.numDocs);
  }

  /** Segments of the last commit. */
  get numSegments(): number {
    return this.#manifest.segments.length;
  }

  /** Whether there is something to commit: what was added and deleted since, or what an earlier writer has logged. */
  get hasUncommitted(): boolean {
    return this.#buffer.numDocs > 0 || this.#hasChanges(undefined);
  }

  /** Whether a document with this id is there, committed or not. */
  async has(id: string): Promise<boolean> {
    return await this.#turn(() => this.#buffer.has(id) || this.#segments.some((segment) => segment.has(id)));
  }

  /**
   * Adds documents; one whose id is there replaces it. All are taken or none, also by a kill. When this resolves they are
   * in the log, and survive a kill; they are visible after `commit`.
   */
  async add(documents: readonly NewDocument[], { replacePages = false }: StoreAddOptions = {}): Promise<AddSummary> {
    const checked = documents.map((document) => checkNewDocument(document, this.settings));
    const done = await this.#turn(async () => {
      const leftovers = replacePages ? leftoverParts(checked, this.#holders) : [];
      this.#flushIfFull();
      const log = this.#append(() => [
        ...checked.map((document) => addRecord(document, this.settings)),
        ...(leftovers.length > 0 ? [deleteRecord(leftovers)] : []),
      ]);
      const numReplaced = checked.filter((document) => this.#put(document)).length;
      for (const id of leftovers) this.#remove(id);
      return { log, summary: { numNew: checked.length - numReplaced, numReplaced } };
    });
    await done.log?.sync();
    return done.summary;
  }

  /** Deletes documents and tells how many of the ids were there. Durable and visible as with `add`. */
  async delete(ids: readonly string[]): Promise<number> {
    return await this.#deleteGroups(() => ids.map((id) => [id]));
  }

  /** The same, where an id stands for a document or for all parts of a page. */
  async deletePages(ids: readonly string[]): Promise<number> {
    return await this.#deleteGroups(() => ids.map((id) => [...new Set([id, ...allParts(id, this.#holders)])]));
  }

  /** Deletes documents at once and tells of how many groups at least one was there. */
  async #deleteGroups(groupsNow: () => readonly (readonly string[])[]): Promise<number> {
    const done = await this.#turn(() => {
      const groups = groupsNow();
      const log = this.#append(() => (groups.length > 0 ? [deleteRecord(groups.flat())] : []));
      const removed = groups.map((ids) => ids.filter((id) => this.#remove(id)));
      return { log, numDeleted: removed.filter(({ length }) => length > 0).length };
    });
    await done.log?.sync();
    return done.numDeleted;
  }

  /**
   * Makes everything so far visible and durable, together with `userState` (the one before, where none is given). One
   * that fails leaves the index as it was; the writer can go on, and try again.
   *
   * @returns the generation that readers see from now on
   */
  async commit(userState?: UserState): Promise<number> {
    return await this.#turn(async () => {
      this.#flush();
      if (this.#hasChanges(userState)) await this.#commitNow(userState ?? this.#manifest.userState);
      if (this.#options.autoMerge) this.#merger.wake();
      return this.#manifest.generation;
    });
  }

  /** Merges what is committed to one segment, or to as few as the limit allows, and drops deleted documents. */
  async merge(call: MergeCall = {}): Promise<void> {
    await this.#turn(() => {});
    await this.#merger.run(() => this.#fullMerge(), call);
  }

  /** Resolves when nothing is left to merge in the background. The signal ends the waiting; `close` ends the merge. */
  async mergesSettled(call: MergeCall = {}): Promise<void> {
    await this.#merger.settled(call);
  }

  /**
   * Frees the lock. What is not committed stays in the log for the next writer; without a log it is gone. A merge that
   * is going on is stopped: the next writer begins it again.
   */
  async close(): Promise<void> {
    this.#closed ??= this.#close();
    await this.#closed;
  }

  async #close(): Promise<void> {
    await this.#merger.stop();
    await this.#turns.take(async () => {
      await this.#log?.close();
      for (const segment of this.#segments) this.#letGo(segment);
      this.#lock.release();
    });
  }

  /** After a failure nobody knows which segments a manifest names: the next writer removes those that none does. */
  #letGo(segment: WriterSegment): void {
    if (segment.isCommitted || this.#failure) segment.close();
    else segment.discard();
  }

  #turn<T>(work: () => Promise<T> | T): Promise<T> {
    return this.#turns.take(() => {
      if (this.#failure) throw this.#failure;
      if (this.#closed !== undefined) throw new IndexStateError(`the writer of ${this.#folder} is closed`);
      return work();
    });
  }

  // ---- documents

  /** Whoever has documents, in their order. */
  get #holders(): readonly PageHolder[] {
    return [...this.#segments, this.#buffer];
  }

  /** True if a document with this id was there. */
  #put(document: NewDocument): boolean {
    const wasThere = this.#remove(document.document.id);
    this.#buffer.add(document, formatOf(this.settings).sizeOf(document.payload));
    return wasThere;
  }

  #remove(id: string): boolean {
    return this.#buffer.delete(id) || this.#segments.some((segment) => segment.delete(id));
  }

  /** Before documents are taken, not after: where it fails, they have not been. */
  #flushIfFull(): void {
    if (this.#buffer.sizeBytes >= this.#options.bufferBytes) this.#flush();
  }

  #flush(): void {
    if (this.#buffer.numDocs === 0) return;
    const documents = this.#buffer.documents();
    const entry = writeSegment(this.#folder, this.#takeName(), { documents, settings: this.settings });
    this.#segments = [...this.#segments, WriterSegment.fresh(this.#folder, entry, this.#idCache)];
    this.#buffer.clear();
  }

  #takeName(): string {
    return String(this.#nextSegment++);
  }

  // ---- log

  #append(recordsNow: () => readonly NewLogRecord[]): LogWriter | undefined {
    const records = this.#options.log ? recordsNow() : [];
    if (records.length === 0) return undefined;
    this.#log ??= LogWriter.create(logPath(this.#folder, this.#manifest.log), this.#manifest.log);
    this.#log.append(records.length > 1 ? [batchRecord(records)] : records);
    return this.#log;
  }

  async #replay(): Promise<void> {
    const path = logPath(this.#folder, this.#manifest.log);
    const source = openIfThere(path);
    if (!source) return;
    try {
      const { end, doubt } = readLog(source, this.#manifest.log, (record) => {
        this.#flushIfFull();
        for (const change of readChanges(record, this.settings, path)) this.#redo(change);
      });
      // Refusing would hold back all records before it, for what is most likely what a power cut left of the last.
      if (doubt) this.#options.logger.warn(`${doubt}; they are cut off, what was added or deleted last may be lost`);
      if (end > 0) this.#log = LogWriter.resume(path, end); // 0 where not even the log's header is whole
    } finally {
      source.close();
    }
  }

  #redo(change: LoggedChange): void {
    if (change.type === 'add') this.#put(change.document);
    else for (const id of change.ids) this.#remove(id);
  }

  // ---- commits

  #hasChanges(userState: UserState | undefined): boolean {
    const isOther = userState !== undefined && JSON.stringify(userState) !== JSON.stringify(this.#manifest.userState);
    const hasSegments = this.#segments.some(({ isCommitted, hasNewDeletes }) => !isCommitted || hasNewDeletes);
    return isOther || hasSegments || this.#log !== undefined;
  }

  async #commitNow(userState: UserState): Promise<void> {
    const generation = this.#manifest.generation + 1;
    const kept = this.#segments.filter(({ numLive }) => numLive > 0);
    const entries = kept.map((segment) =>
      segment.hasNewDeletes ? segment.writeTombstones(segment.working, generation) : segment.entry,
    );
    await this.#publish({ generation, segments: entries, log: this.#manifest.log + 1, userState });
    for (const segment of this.#segments) {
      const at = kept.indexOf(segment);
      segment.becomeCommitted(entries[at] ?? segment.entry); // also those that go: a merge of them may be under way
      if (at < 0) segment.discard();
    }
    this.#segments = kept;
    await this.#log?.retire();
    this.#log = undefined;
  }

  async #publish(changes: Partial<Manifest>): Promise<void> {
    const next = { ...this.#manifest, nextSegment: this.#nextSegment, ...changes };
    try {
      await publish(this.#folder, this.#manifest, next);
    } catch (error) {
      if (error instanceof UncertainCommitError) this.#failure = error;
      throw error;
    }
    this.#manifest = next;
  }

  // ---- merges

  get #committed(): WriterSegment[] {
    return this.#segments.filter(({ isCommitted }) => isCommitted);
  }

  #nextMerge(): readonly WriterSegment[] | undefined {
    const segments = this.#committed;
    const range = planTieredMerge(segments.map(sizeOf), this.#options.maxSegmentBytes);
    return range && groupOf(segments, range);
  }

  #fullMerge(): readonly (readonly WriterSegment[])[] {
    const segments = this.#committed;
    const ranges = planFullMerge(segments.map(sizeOf), this.#options.maxSegmentBytes);
    return ranges.map((range) => groupOf(segments, range));
  }

  async #merge(group: readonly WriterSegment[], call: MergeCall): Promise<void> {
    const sources = group.map(({ entry, committed }) => ({ entry, leftOut: committed }));
    const task = { folder: this.#folder, name: this.#takeName(), sources, settings: this.settings };
    const entry = await runMerge(task, call);
    const merged = WriterSegment.fresh(this.#folder, entry, this.#idCache);
    try {
      await this.#turns.take(() => {
        if (this.#failure) throw this.#failure; // the manifest that this writer knows may not be the last
        return this.#install(merged, group, sources);
      });
    } catch (error) {
      this.#letGo(merged);
      throw error;
    }
  }

  /**
   * Puts a merged segment into the place of those it was made of. Deletes that came meanwhile are carried over: those
   * that are committed into its tombstones, the others for the next commit.
   */
  async #install(
    merged: WriterSegment,
    group: readonly WriterSegment[],
    sources: readonly { readonly entry: SegmentEntry; readonly leftOut: WriterSegment['committed'] }[],
  ): Promise<void> {
    const inputs = sources.map(({ entry, leftOut }) => ({ numDocs: entry.numDocs, leftOut }));
    const committed = remapTombstones(
      inputs,
      group.map((segment) => segment.committed),
    );
    merged.working = remapTombstones(
      inputs,
      group.map((segment) => segment.working),
    );
    const generation = this.#manifest.generation + 1;
    const isLive = committed.numDeleted < merged.entry.numDocs;
    const entry = isLive ? merged.writeTombstones(committed, generation) : merged.entry;
    const replaced = replaceGroup(this.#segments, group, isLive ? merged : undefined);
    const entries = replaced
      .filter((segment) => segment === merged || segment.isCommitted)
      .map((segment) => (segment === merged ? entry : segment.entry));
    await this.#publish({ generation, segments: entries });
    merged.becomeCommitted(entry, committed);
    for (const segment of group) segment.close();
    if (!isLive) merged.discard();
    this.#segments = replaced;
  }
}

function openAll(folder: string, manifest: Manifest, cache: PageCache): WriterSegment[] {
  const opened: WriterSegment[] = [];
  try {
    for (const entry of manifest.segments) opened.push(WriterSegment.open(folder, entry, cache));
    return opened;
  } catch (error) {
    for (const segment of opened) segment.close();
    throw error;
  }
}

function sizeOf({ entry, committed }: WriterSegment) {
  return { numDocs: entry.numDocs, numDeleted: committed.numDeleted, sizeBytes: entry.files.postings.sizeBytes };
}

function groupOf(segments: readonly WriterSegment[], { from, to }: MergeRange): readonly WriterSegment[] {
  return segments.slice(from, to);
}

/** Members that a commit has dropped meanwhile, all their documents deleted, are in neither list. */
function replaceGroup(
  segments: readonly WriterSegment[],
  group: readonly WriterSegment[],
  merged: WriterSegment | undefined,
): WriterSegment[] {
  const at = segments.findIndex((segment) => group.includes(segment));
  const others = segments.filter((segment) => !group.includes(segment));
  return merged && at >= 0 ? others.toSpliced(at, 0, merged) : others;
}
