/** How a benchmark says what it found: rows of measurements, and claims held against their bars. */
import { writeFileSync } from 'node:fs';
import type { Circumstances } from './machine.ts';
import { formatSpread, type Spread } from './statistics.ts';

/** A row of the result. */
export type Row = {
  readonly name: string;
  readonly unit: string;
  readonly value: Spread;
  readonly activeTerms?: number | undefined;
};

/** A claim and its bar. */
export type Claim = { readonly claim: string; readonly value: number; readonly bar: string; readonly reached: boolean };

/** One question and its answer. */
export type Part = { readonly title: string; readonly rows: readonly Row[]; readonly claims: readonly Claim[] };

/** A claim that something is at least so many times faster. */
export function atLeast(claim: string, value: number, bar: number): Claim {
  return { claim, value, bar: `≥ ${bar}×`, reached: value >= bar };
}

/** A claim that a time or size stays below a bar. */
export function atMost(claim: string, value: number, bar: { readonly limit: number; readonly unit: string }): Claim {
  return { claim, value, bar: `≤ ${bar.limit} ${bar.unit}`, reached: value <= bar.limit };
}

/** Prints a part for people. */
export function printPart({ title, rows, claims }: Part): void {
  console.log(`\n${title}`);
  for (const { name, unit, value, activeTerms } of rows) {
    const terms = activeTerms === undefined ? '' : `  ${activeTerms.toFixed(1)} terms a document`;
    console.log(`  ${name.padEnd(48)} ${formatSpread(value, 2)} ${unit}${terms}`);
  }
  for (const { claim, value, bar, reached } of claims)
    console.log(`  → ${claim}: ${value.toFixed(2)}  (bar ${bar}: ${reached ? 'reached' : 'MISSED'})`);
}

/** Writes all parts for programs. */
export function writeResults(path: string, where: Circumstances, parts: readonly Part[]): void {
  writeFileSync(path, `${JSON.stringify({ ...where, parts }, undefined, 2)}\n`);
}
