/** Numbers of now for the metrics: the process, and each index. */
import { figuresOf } from './endpoints.ts';
import type { Gate } from './gate.ts';
import type { Gauge } from './metrics.ts';
import type { ServedIndex } from './served-index.ts';

/** What runs, and what the process takes. */
export function processGauges({ reading, writing }: { readonly reading: Gate; readonly writing: Gate }): Gauge[] {
  const { user, system } = process.cpuUsage();
  return [
    {
      name: 'lzero_http_requests_running',
      help: 'Searches and writes that have begun and not ended.',
      values: [
        { labels: { kind: 'read' }, value: reading.numRunning },
        { labels: { kind: 'write' }, value: writing.numRunning },
      ],
    },
    {
      name: 'process_cpu_seconds_total',
      help: 'CPU time of the process.',
      type: 'counter',
      values: [{ value: (user + system) / 1e6 }],
    },
    {
      name: 'process_resident_memory_bytes',
      help: 'Memory of the process.',
      values: [{ value: process.memoryUsage.rss() }],
    },
    { name: 'process_uptime_seconds', help: 'Age of the process.', values: [{ value: process.uptime() }] },
  ];
}

type Figures = Awaited<ReturnType<typeof figuresOf>>;

/** Size and commit of each index. */
export async function indexGauges(indexes: readonly ServedIndex[]): Promise<Gauge[]> {
  const all = await Promise.all(indexes.map(figuresOf));
  const gauge = (name: string, help: string, of: (figures: Figures) => number): Gauge => ({
    name,
    help,
    values: all.map((figures) => ({ labels: { index: figures.name }, value: of(figures) })),
  });
  return [
    gauge('lzero_index_documents', 'Documents that searches see.', ({ numDocs }) => numDocs),
    gauge('lzero_index_deleted_documents', 'Deleted documents that a merge will drop.', ({ numDeleted }) => numDeleted),
    gauge('lzero_index_segments', 'Segments of the index.', ({ numSegments }) => numSegments),
    gauge('lzero_index_generation', 'Counts commits and merges.', ({ generation }) => generation),
    gauge('lzero_index_size_bytes', 'Bytes on disk.', ({ sizeBytes }) => sizeBytes.total),
    gauge('lzero_index_memory_bytes', 'Bytes held in memory for searching.', ({ memoryBytes }) => memoryBytes),
  ];
}
