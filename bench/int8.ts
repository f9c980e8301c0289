/**
 * int8 against fp32, both ours: MiniLM with a tied head, 16 × 128 tokens, network and head alone.
 *
 *     npm run build
 *     LZERO_WEIGHTS=… LZERO_SHARED_DATA=… npx tsx bench/int8.ts [--rounds 9] [--json results.json]
 *
 * Folders as in bench/encode.ts, which compares both with sentence-transformers (--precision int8). Each precision has a
 * process of its own, and they take turns. Bars: ≥ 1.6× on processors without VNNI, ≥ 2.5× with it. The ratio of
 * processor time is printed beside that of wall time: it moves less where something else runs.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BATCH_DOCUMENTS, BATCH_TOKENS, NUM_BATCHES, prepareBatches, writeCorpus } from './lib/encode-setting.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atLeast, type Part, printPart, writeResults } from './lib/report.ts';
import { formatSpread } from './lib/statistics.ts';
import { cpuSaving, ourCommand, rateRows, speedUps, takeTurns, withContenders } from './lib/turns.ts';

async function measure(model: string, ids: string, { rounds, bar }: { rounds: number; bar: number }): Promise<Part> {
  const precisions = ['fp32', 'int8'] as const;
  const commands = precisions.map((precision) => ourCommand(model, precision));
  return await withContenders(commands, async (contenders) => {
    const turns = precisions.map((name, i) => ({
      name,
      measure: () => contenders[i].measure({ kind: 'batches', ids }),
    }));
    const results = await takeTurns(turns, rounds);
    const ratio = speedUps(results, 'int8', 'fp32');
    return {
      title: `MiniLM with tied head, ${BATCH_DOCUMENTS} × ${BATCH_TOKENS} tokens, ${rounds} rounds`,
      rows: rateRows(results, NUM_BATCHES * BATCH_DOCUMENTS),
      claims: [
        atLeast(`int8 against fp32, ${formatSpread(ratio, 2)}`, ratio.median, bar),
        atLeast('the same in processor time', cpuSaving(results, 'int8', 'fp32'), bar),
      ],
    };
  });
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' }, json: { type: 'string' } } });
  const { LZERO_WEIGHTS: weights, LZERO_SHARED_DATA: data } = process.env;
  if (!weights || !data) throw new Error('set LZERO_WEIGHTS and LZERO_SHARED_DATA; see the head of bench/encode.ts');
  const where = await circumstances();
  console.log(describe(where));
  const hasVnni = where.cpuFlags.some((flag) => flag.includes('vnni'));
  const scratch = mkdtempSync(join(tmpdir(), 'lzero-bench-'));
  try {
    const { corpus } = writeCorpus(scratch, data);
    const { model, ids } = await prepareBatches(scratch, { weights, corpus });
    const part = await measure(model, ids, { rounds: Number(values.rounds), bar: hasVnni ? 2.5 : 1.6 });
    printPart(part);
    if (values.json) writeResults(values.json, where, [part]);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

await main();
