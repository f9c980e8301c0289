/** Documents of WORK/documents.jsonl in two files: those that an encoder learns from, and some that only measure it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../../src/files/index.ts';
import { linesOf } from './evaluation.ts';
import { rows } from './sources.ts';

/** One document of so many is held out. */
const HELD_OUT = 180;

/** The two files, written where they are missing. */
export async function splitDocuments(work: string): Promise<{ readonly learned: string; readonly heldOut: string }> {
  const [learned, heldOut] = ['heal-documents', 'held-out'].map((name) => join(work, `${name}.jsonl`));
  if (existsSync(learned) && existsSync(heldOut)) return { learned, heldOut };
  const texts: { readonly _id: string; readonly text: string }[] = [];
  for await (const { _id, text } of rows<(typeof texts)[number]>(join(work, 'documents.jsonl')))
    texts.push({ _id, text });
  await writeFileAtomically(heldOut, linesOf(texts.filter((_, i) => i % HELD_OUT === 0)));
  await writeFileAtomically(learned, linesOf(texts.filter((_, i) => i % HELD_OUT !== 0)));
  return { learned, heldOut };
}
