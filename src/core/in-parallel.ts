/** Work on several items at a time, in their order. */

/** Works on the items in order, `count` at a time. After a failure no more are begun, and those begun are awaited. */
export async function inParallel<T>(
  items: readonly T[],
  count: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const takeTurns = async (): Promise<void> => {
    try {
      while (next < items.length) await work(items[next++]);
    } catch (error) {
      next = items.length;
      throw error;
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: count }, takeTurns));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
