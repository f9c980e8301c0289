/** A line every half minute of work that takes hours: how much is done, how fast, how long it will take. */
const EVERY_MS = 30_000;

/** Told how many are done; `total` counts those that are remembered, which are passed over. */
export function progressLine(what: string, total: number): (numDone: number) => void {
  const began = performance.now();
  let told = began;
  return (numDone) => {
    const now = performance.now();
    if (now - told < EVERY_MS) return;
    told = now;
    const rate = numDone / ((now - began) / 1000);
    const minutes = (total - numDone) / rate / 60;
    console.log(
      `${what}: ${numDone} of at most ${total}, ${rate.toFixed(1)} a second, at most ${minutes.toFixed(0)} minutes left`,
    );
  };
}
