import { appendFileSync, readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { Scratch } from '../../test/cli/index-commands.ts';
import { DeadLetters } from './dead-letters.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

const rejection = (id: string) => ({ id, status: 400, type: 'input', reason: 'wrong', source: `{"id":"${id}"}` });

async function addAll(path: string, ids: readonly string[]): Promise<void> {
  const letters = await DeadLetters.open(path);
  for (const id of ids) await letters.add(rejection(id));
  await letters.close();
}

it('dead letters have the document, and are not written again by a run that goes on', async () => {
  const path = scratch.path('letters.jsonl');
  await addAll(path, ['a', 'b']);
  appendFileSync(path, '{"_id":"c", half a line'); // as a kill leaves it
  await addAll(path, ['a', 'b', 'c']);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(4);
  expect([lines[0], lines[1], lines[3]].map((line) => JSON.parse(line))).toEqual(
    ['a', 'b', 'c'].map((id) => ({ _id: id, status: 400, type: 'input', reason: 'wrong', document: { id } })),
  );
});

it('two ingests that share a file, each with large documents on their way together, mix no lines', async () => {
  const path = scratch.path('shared.jsonl');
  const both = [await DeadLetters.open(path), await DeadLetters.open(path)];
  const text = 'x'.repeat(1_500_000);
  const sources = Array.from({ length: 16 }, (_, i) => JSON.stringify({ id: `d${i}`, text }));
  await Promise.all(sources.map((source, i) => both[i % 2].add({ ...rejection(`d${i}`), source })));
  for (const letters of both) await letters.close();
  const ids = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).document.id);
  expect(ids.sort()).toEqual(sources.map((source) => JSON.parse(source).id).sort());
});
