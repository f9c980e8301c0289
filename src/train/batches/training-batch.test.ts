import { expect, it } from 'vitest';
import { otherAnswers } from './training-batch.ts';

it('documents of others that answer a query: its positive once more, and positives of the same query', () => {
  const batch = {
    queries: ['boat', 'bread', 'boat', 'sail'],
    documents: ['a boat', 'x', 'bread', 'a boat', 'another boat', 'x', 'a boat', 'bread'],
  };
  expect(otherAnswers(batch, 2).map((columns) => [...columns])).toEqual([
    [3, 4, 6], //    the same text as a negative, another positive of "boat", the same text as a positive
    [7],
    [0], //          its own document is "another boat"; "a boat" answers the same query
    [0, 3],
  ]);
});
