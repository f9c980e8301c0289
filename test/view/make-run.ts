/** Folders of runs as `lzero train` leaves them, made up: curves that look like those of a real one, in any number of lines. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../../src/core/index.ts';
import { addLengths } from '../../src/train/run/length-histogram.ts';

/** A run that is made up. */
export type MadeRun = {
  /** Lines of steps. */
  readonly numLines: number;
  readonly seed?: number;
  /** λ; more of it makes documents shorter. */
  readonly lambda?: number;
  /** Steps between evaluations; 0 for none. */
  readonly evaluateEvery?: number;
  /** The step at which it collapses. */
  readonly collapseAt?: number;
  /** Whether it has a model. */
  readonly isFinished?: boolean;
};

const WORDS = [
  'white',
  'matter',
  'fiber',
  'infant',
  'brain',
  'diffusion',
  'cortex',
  'preterm',
  'water',
  'imaging',
  'newborn',
  'axon',
];

/** Writes the folder, and gives a function that adds lines to it. */
export function makeRun(folder: string, made: MadeRun): { addLine(): void } {
  const { numLines, seed = 1, lambda = 0.04, isFinished = false } = made;
  mkdirSync(folder, { recursive: true });
  const config = {
    model: { base: 'minilm', activation: 'l0' },
    data: { train: 'lists.jsonl', docsPerQuery: 2 },
    sparsity: { lambda, ramp: Math.round(numLines * 2.5), threshold: 200 },
    optim: { steps: 10 * numLines, batchQueries: 20, learningRate: 2e-5 },
  };
  writeFileSync(join(folder, 'run.json'), JSON.stringify({ format: 1, config }));
  const lines: string[] = [];
  const random = new Random(seed);
  let line = 0;
  const addLine = (write: (text: string) => void): void => {
    line++;
    for (const text of linesAt(line, made, random)) write(`${text}\n`);
  };
  const numWritten = Math.min(numLines, Math.ceil((made.collapseAt ?? Number.POSITIVE_INFINITY) / 10));
  while (line < numWritten) addLine((text) => lines.push(text));
  writeFileSync(join(folder, 'metrics.jsonl'), lines.join(''));
  if (isFinished) mkdirSync(join(folder, 'model'), { recursive: true });
  return { addLine: () => addLine((text) => appendFileSync(join(folder, 'metrics.jsonl'), text)) };
}

function linesAt(line: number, made: MadeRun, random: Random): string[] {
  const { numLines, lambda = 0.04, evaluateEvery = 0, collapseAt = Number.POSITIVE_INFINITY } = made;
  const step = 10 * line;
  const share = Math.min(1, line / (numLines * 0.25));
  const noise = (): number => random.uniform() + random.uniform() - 1;
  const isDead = step >= collapseAt;
  const meanLen = isDead ? 0 : 40 + 900 * Math.exp(-4 * share) * Math.exp((-3 * line) / numLines) + 2 / (lambda + 0.02);
  const docLens = Array.from({ length: 40 }, () => Math.max(0, Math.round(meanLen * Math.exp(0.5 * noise()))));
  const kl = 0.9 * Math.exp((-3 * line) / numLines) + 0.25 + 0.12 * noise();
  const flops = (meanLen / 60) ** 2 * (1 + 0.1 * noise());
  const grown = lambda * share ** 2;
  const row = {
    step,
    loss: kl + grown * flops,
    rank: kl,
    kl,
    flops,
    lambda: grown,
    docLen: docLens.reduce((sum, length) => sum + length, 0) / docLens.length,
    maskedShare: docLens.filter((length) => length <= 200).length / docLens.length,
    emptyShare: docLens.filter((length) => length === 0).length / docLens.length,
    gradientNorm: 1.5 + noise(),
    learningRate: 2e-5 * Math.min(1, line / (0.06 * numLines)) * (1 - (0.94 * line) / numLines),
    docsPerSecond: 36 + 3 * noise(),
    tokensPerSecond: 6000 + 300 * noise(),
    docLens: addLengths({}, docLens),
  };
  const lines = [JSON.stringify(row)];
  if (isDead && step - 10 < collapseAt)
    lines.push(JSON.stringify({ step, alarm: `step ${step}: all documents of 3 steps have lost all their terms` }));
  if (evaluateEvery > 0 && step % evaluateEvery === 0)
    lines.push(evaluationAt(step, line / numLines, { meanLen, random }));
  return lines;
}

function evaluationAt(step: number, share: number, { meanLen, random }: { meanLen: number; random: Random }): string {
  const ndcg = meanLen === 0 ? 0 : 0.58 + 0.1 * (1 - Math.exp(-4 * share)) + 0.004 * random.uniform();
  const evaluation = {
    'ndcg@10': ndcg,
    'mrr@10': ndcg - 0.03,
    'recall@100': 0.9,
    flops: meanLen / 90,
    docLen: meanLen,
    queryLen: 9,
  };
  const pinned = ['4983', '5836', '7912'].map((id, d) => {
    const terms = WORDS.map(
      (word, i) =>
        [
          word,
          Number((2 * Math.abs(Math.sin(d + i + 2 * share)) * (0.6 + 0.4 * random.uniform())).toPrecision(4)),
        ] as const,
    );
    const kept = [...terms].sort((a, b) => b[1] - a[1]).slice(0, meanLen === 0 ? 0 : 9);
    const text =
      'Microstructural development of human newborn cerebral white matter assessed in vivo by diffusion tensor magnetic resonance imaging.';
    return { id, text, numTerms: Math.round(meanLen), terms: kept };
  });
  return JSON.stringify({ step, evaluation, pinned });
}
