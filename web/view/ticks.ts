/** Round numbers along an axis. */

/** About `most` round numbers within a range. */
export function linearTicks(from: number, to: number, most: number): number[] {
  const rough = (to - from) / Math.max(1, most);
  if (!(rough > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Powers of ten within a range, with 2 and 5 times each where those alone are few. */
export function logTicks(from: number, to: number): number[] {
  const powers: number[] = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power++) powers.push(power);
  const factors = Math.log10(to / from) > 3 ? [1] : [1, 2, 5];
  const all = powers.flatMap((power) => factors.map((factor) => Number((factor * 10 ** power).toPrecision(6))));
  const ticks = all.filter((tick) => tick >= from && tick <= to);
  return ticks.length > 1 ? ticks : [from, to];
}
