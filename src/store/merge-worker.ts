/** The thread behind merge-job.ts: merges the parts of segments one after the other, then ends. */
import { assert } from '../core/index.ts';
import type { ByteSink, MergeInput } from '../search/index.ts';
import { FileSource, type FileSummary, writeThroughSink } from './byte-files.ts';
import type { SegmentPart } from './layout.ts';
import type { StoreSettings } from './manifest.ts';
import type { MergeDone, MergeRequest } from './merge-job.ts';
import { documentsFormat, formatOf, vectorsFormat } from './segment-parts.ts';
import { answerJob } from './thread-job.ts';

function merge({ settings, parts }: MergeRequest, report: (sizeBytes: number) => void): MergeDone {
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
  return { numDocs: numDocs ?? 0, numPostings, files };
}

function mergePart(
  part: SegmentPart,
  { settings, sources, sink }: { settings: StoreSettings; sources: readonly MergeInput[]; sink: ByteSink },
): { readonly numDocs: number; readonly numPostings?: number } {
  if (part === 'postings') return formatOf(settings).merge(sources, sink);
  return part === 'documents' ? documentsFormat.merge(sources, settings, sink) : vectorsFormat.merge(sources, sink);
}

answerJob(merge);
