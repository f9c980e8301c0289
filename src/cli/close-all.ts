/** Things that hold files, threads or models. */

/** Closes all, also where one fails to; then throws the first failure. */
export async function closeAll(opened: readonly { close(): Promise<void> }[]): Promise<void> {
  const outcomes = await Promise.allSettled(opened.map((one) => one.close()));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
