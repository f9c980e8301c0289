/** The thread behind merge-job.ts: merges the parts of segments one after the other, then ends. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { assert } from '../core/index.ts';
import type { ByteSink, MergeInput } from '../search/index.ts';
import { FileSource, type FileSummary, writeThroughSink } from './byte-files.ts';
import type { SegmentPart } from './layout.ts';
import type { StoreSettings } from './manifest.ts';
import type { MergeReply, MergeRequest } from './merge-job.ts';
import { documentsFormat, formatOf, vectorsFormat } from './segment-parts.ts';
import { failureOf } from './threads.ts';

/** Bytes between two reports of progress. */
const REPORT_BYTES = 16 * 2 ** 20;

function merge({ settings, parts }: MergeRequest, report: (sizeBytes: number) => void): MergeReply {
  const files: Partial<Record<SegmentPart, FileSummary>> = {};
  let numPostings = 0;
  let numDocs: number | undefined;
  let before = 0;
  for (const { part, path, inputs } of parts) {
    const sources = inputs.map(({ file, deleted }) => ({ source: new FileSource(file), deleted }));
    const { file, result } = writeThroughSink(
      path,
      (sink) => mergePart(part, { settings, sources, sink }),
      (sizeBytes) => report(before + sizeBytes),
    );
    files[part] = file;
    before += file.sizeBytes;
    numPostings += result.numPostings ?? 0;
    assert(numDocs === undefined || numDocs === result.numDocs, `${part} merged to ${result.numDocs} of ${numDocs}`);
    numDocs = result.numDocs;
  }
  return { kind: 'done', numDocs: numDocs ?? 0, numPostings, files };
}

function mergePart(
  part: SegmentPart,
  { settings, sources, sink }: { settings: StoreSettings; sources: readonly MergeInput[]; sink: ByteSink },
): { readonly numDocs: number; readonly numPostings?: number } {
  if (part === 'postings') return formatOf(settings).merge(sources, sink);
  return part === 'documents' ? documentsFormat.merge(sources, settings, sink) : vectorsFormat.merge(sources, sink);
}

function run(port: MessagePort, request: MergeRequest): void {
  let next = REPORT_BYTES;
  const report = (sizeBytes: number): void => {
    if (sizeBytes < next) return;
    next = sizeBytes + REPORT_BYTES;
    port.postMessage({ kind: 'progress', sizeBytes } satisfies MergeReply);
  };
  try {
    port.postMessage(merge(request, report));
  } catch (error) {
    port.postMessage(failureOf(error));
  }
}

assert(parentPort !== null, 'merge-worker runs as a worker thread only');
run(parentPort, workerData);
