/** Signals that fire on the way, at the same place in every run: nobody has to wait for the right moment. */

/** A signal that is aborted from the n-th time on that somebody asks whether it is. */
export function firesAt(n: number): { readonly signal: AbortSignal; numAsked(): number } {
  const { signal } = new AbortController();
  let numAsked = 0;
  Object.defineProperty(signal, 'aborted', { get: () => ++numAsked >= n });
  return { signal, numAsked: () => numAsked };
}
