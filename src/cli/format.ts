/** Numbers as people read them: counts, rates, durations and sizes. */

/** 1234567 → "1,234,567". */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** A number of things: "1 document", "1,234 documents". */
export function formatCounted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Units a second: "27.3/s", "1,200/s"; slow work by the minute or the hour: "3.0/min". */
export function formatRate(perSecond: number): string {
  if (perSecond === 0 || perSecond >= 1) return `${threeDigits(perSecond)}/s`;
  return perSecond >= 1 / 60 ? `${threeDigits(perSecond * 60)}/min` : `${threeDigits(perSecond * 3600)}/h`;
}

/** 0.42 → "0.4s", 75 → "1m15s", 7325 → "2h02m". */
export function formatDuration(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${twoDigits(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h${twoDigits(Math.floor((whole % 3600) / 60))}m`;
}

/** Bytes in the largest unit that keeps the number at one or above: "512 B", "4.2 GB" (powers of 1000). */
export function formatBytes(sizeBytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, sizeBytes)) / 3)));
  const value = sizeBytes / 1000 ** step;
  return `${step === 0 ? value : value.toFixed(1)} ${units[step]}`;
}

function threeDigits(value: number): string {
  return value >= 100 ? formatCount(Math.round(value)) : value.toFixed(1);
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
