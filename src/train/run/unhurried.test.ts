import { expect, it } from 'vitest';
import { unhurried } from './unhurried.ts';

it('work is told at most every 50 ms, its beginning and its end always', () => {
  const told: string[] = [];
  let nowMs = 0;
  const listener = unhurried(
    (event) => told.push(event.kind === 'work' ? `${event.label} ${event.done}` : event.kind),
    () => nowMs,
  );
  const work = (label: string, total: number): void => {
    for (let done = 0; done <= total; done++, nowMs += 20)
      listener({ kind: 'work', label, unit: 'documents', done, total });
    listener({ kind: 'work-over' });
  };
  work('evaluating', 7);
  work('evaluating', 1);
  listener({ kind: 'checkpoint', step: 1 });
  expect(told).toEqual([
    ...['evaluating 0', 'evaluating 3', 'evaluating 6', 'evaluating 7', 'work-over'],
    ...['evaluating 0', 'evaluating 1', 'work-over'],
    'checkpoint',
  ]);
});
