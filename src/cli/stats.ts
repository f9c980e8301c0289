/** `lzero stats`: what an index holds and takes. */
import { Command } from 'commander';
import { isUnfinished, warnIfUnfinished } from './build-note.ts';
import type { CliContext } from './context.ts';
import { formatBytes, formatCount } from './format.ts';
import { withIndex } from './index-options.ts';
import { withExamples } from './program.ts';

/** The `stats` command. */
export function statsCommand(context: CliContext): Command {
  const command = new Command('stats')
    .description('show what an index holds: documents, segments, bytes, model, fields')
    .argument('<index>', 'folder of the index')
    .action((folder: string) => stats(context, folder));
  return withExamples(command, { 'lzero stats my.index --json': 'for programs' });
}

async function stats({ stdout, logger, options }: CliContext, folder: string): Promise<void> {
  await withIndex(folder, { mode: 'lean' }, async (index) => {
    const { docLen, store } = await index.stats();
    const { model, scale, fields, storeVectors, bm25 } = index.settings;
    const { memoryBytes, ...figures } = store;
    const unfinished = isUnfinished(index);
    warnIfUnfinished(logger, index);
    if (options.json)
      return await stdout.writeJson({
        index: folder,
        unfinished,
        ...figures,
        docLen,
        model,
        scale,
        fields,
        storeVectors,
        bm25,
      });
    const declared = Object.entries(fields).map(([name, type]) => `${name}:${type}`);
    const { postings, documents, vectors } = store.sizeBytes;
    const rows: readonly (readonly [string, string])[] = [
      ['kind', store.kind === 'bm25' ? `BM25, k1 ${bm25?.k1}, b ${bm25?.b}` : 'learned sparse vectors'],
      [
        'documents',
        formatCount(store.numDocs) + (store.numDeleted > 0 ? ` (${formatCount(store.numDeleted)} deleted)` : ''),
      ],
      ['segments', formatCount(store.numSegments)],
      ['terms a document', docLen?.toFixed(1) ?? '–'],
      ['bytes a posting', store.bytesPerPosting?.toFixed(2) ?? '–'],
      [
        'size',
        `${formatBytes(store.sizeBytes.total)}: postings ${formatBytes(postings)}, documents ${formatBytes(documents)}` +
          (storeVectors ? `, float vectors ${formatBytes(vectors)}` : ''),
      ],
      ['model', model ? `${model.name} (${model.identity.slice(0, 12)})` : 'none'],
      ['fields', declared.join(', ') || 'none'],
      ['commit', formatCount(store.generation)],
    ];
    const width = Math.max(...rows.map(([name]) => name.length));
    await stdout.write(rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join(''));
  });
}
