import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openRunFile } from './run-file-system.ts';
import type { Answer } from './system.ts';

const folder = mkdtempSync(join(tmpdir(), 'lzero-run-file-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function open(text: string) {
  const path = join(folder, 'run.trec');
  writeFileSync(path, text);
  return await openRunFile(path, { name: 'run:theirs' });
}

describe('a run file as a system', () => {
  it('answers every query in order with its best k, and with nothing where it has none', async () => {
    const system = await open('q2 Q0 a 1 1 t\nq2 Q0 b 2 3 t\nq2 Q0 c 3 2 t\n');
    const answers: Answer[] = [];
    const queries = ['q1', 'q2'].map((id) => ({ id, text: '' }));
    for await (const answer of system.search(queries, { k: 2 })) answers.push(answer);
    expect(answers).toEqual([
      { queryId: 'q1', hits: [] },
      {
        queryId: 'q2',
        hits: [
          { id: 'b', score: 3 },
          { id: 'c', score: 2 },
        ],
      },
    ]);
  });

  it('has an id that any score changes', async () => {
    const [one, same, other] = [
      await open('q Q0 a 1 1 t\n'),
      await open('q Q0 a 9 1 u\n'),
      await open('q Q0 a 1 2 t\n'),
    ];
    expect(same.id).toBe(one.id);
    expect(other.id).not.toBe(one.id);
  });
});
