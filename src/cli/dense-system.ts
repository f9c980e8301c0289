/** `dense:MODEL`: a dense encoder as a system of evaluations. Every document is scored for every query. */
import type { Document } from '../data/index.ts';
import { DocumentPool, parseTeacher, rankAll } from '../teach/index.ts';
import type { OpenSystem, SystemContext } from './eval-systems.ts';
import { withTeacherProgress } from './teacher-progress.ts';
import { openTeacher } from './teachers.ts';

/** Encodes a collection, or takes what an earlier call has encoded. */
export async function denseSystem(
  name: string,
  { context, collection, precision }: SystemContext,
): Promise<OpenSystem> {
  const teacher = await openTeacher(context, { precision, ...parseTeacher(name) });
  const teaching = { teachers: [teacher], ensemble: { normalise: 'none', scale: 1 } } as const;
  return {
    system: {
      name,
      id: `dense ${teacher.identity} ${await collection.documentsFingerprint()}`,
      search: async function* (queries, { k, signal }) {
        const documents: Document[] = [];
        for await (const document of collection.documents({ signal })) documents.push(document);
        const pool = new DocumentPool(documents);
        yield* withTeacherProgress(context, { label: `encoding with ${name}`, total: pool.size }, (onProgress) =>
          rankAll(queries, { ...teaching, pool, k }, { signal, onProgress }),
        );
      },
    },
    close: () => teacher.close(),
  };
}
