/** Numbers for people. */

/** A number in few characters: 0.04312, 12,345, 2.0e-5. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(1).replace('-', '−').replace('+', '');
  if (size >= 1000) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(4))).replace('-', '−');
}

/** A count with separators. */
export function count(value: number): string {
  return Number.isFinite(value) ? Math.round(value).toLocaleString('en') : '–';
}

/** Seconds as 45 s, 12:30 min or 3:05 h. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–';
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  if (seconds < 60) return `${Number(seconds.toPrecision(2))} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${two(seconds % 60)} min`;
  return `${Math.floor(seconds / 3600)}:${two((seconds % 3600) / 60)} h`;
}
