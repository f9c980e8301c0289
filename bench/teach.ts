/**
 * Speed of teachers: vectors of documents by dense encoders, ours against sentence-transformers.
 *
 *     LZERO_WEIGHTS=… LZERO_SHARED_DATA=… LZERO_PYTHON=peers/bin/python npx tsx bench/teach.ts [--rounds 3] \
 *         [--only minilm-l6,gte-small] [--json results.json]
 *
 * LZERO_WEIGHTS holds Hugging Face checkpoints (minilm-l6, gte-small), LZERO_SHARED_DATA the unpacked real data, LZERO_PYTHON
 * a Python with the peers (bench/peers/README.md). The first 1,000 documents of SciFact, up to 512 tokens, nothing
 * remembered. Bar: ≥ 1.5× SentenceTransformer.encode, which has the number of threads that is fastest for it.
 *
 * Each contender has a process of its own; they take turns round by round. Nothing else should run on the machine.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { benchOptions } from './lib/bench-options.ts';
import { COLLECTION_DOCUMENTS, type CorpusFiles, writeCorpus } from './lib/encode-setting.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atLeast, type Part, printPart, writeResults } from './lib/report.ts';
import { type Command, rateRows, speedUp, type Turn, takeTurns, withContenders } from './lib/turns.ts';

const TEACHERS = ['minilm-l6', 'gte-small'] as const;
const BAR = 1.5;
const HERE = import.meta.dirname;

function ourTeacher(spec: string): Command {
  return [process.execPath, '--import', import.meta.resolve('tsx'), resolve(HERE, 'lib/our-teacher.ts'), spec];
}

type Setting = CorpusFiles & { readonly python: string | undefined; readonly rounds: number };

async function teacherPart(name: string, folder: string, setting: Setting): Promise<Part> {
  const { corpus, warmUpCorpus, python, rounds } = setting;
  const input = (warmUp: boolean): string => (warmUp ? warmUpCorpus : corpus);
  const ours = ['fp32', 'int8'].map((precision) => ({
    name: `lzero ${precision}`,
    command: ourTeacher(`dense:${folder},pooling=mean,precision=${precision}`),
  }));
  const peer: Command[] = python ? [[python, '-B', resolve(HERE, 'peers/sentence_transformer.py'), folder]] : [];
  return await withContenders([...ours.map(({ command }) => command), ...peer], async (running) => {
    const turns: Turn[] = ours.map(({ name: us }, i) => ({
      name: us,
      measure: (warmUp) => running[i].measure({ input: input(warmUp) }),
    }));
    const encoder = running[ours.length];
    if (encoder)
      for (const threads of new Set([1, availableParallelism()]))
        turns.push({
          name: `SentenceTransformer.encode (threads ${threads})`,
          measure: (warmUp) => encoder.measure({ input: input(warmUp), threads }),
        });
    const results = await takeTurns(turns, rounds);
    const peers = turns.slice(ours.length).map((turn) => turn.name);
    const slowest = (us: string): number => Math.min(...peers.map((them) => speedUp(results, us, them)));
    return {
      title: `${name}, first ${COLLECTION_DOCUMENTS} SciFact documents`,
      rows: rateRows(results, COLLECTION_DOCUMENTS),
      claims:
        peers.length === 0
          ? []
          : ours.map(({ name: us }) => atLeast(`${us}, against sentence-transformers`, slowest(us), BAR)),
    };
  });
}

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, only: { type: 'string' }, json: { type: 'string' } },
});
const { weights, data, python, rounds, wanted } = benchOptions(values, TEACHERS);
const where = await circumstances();
console.log(describe(where));
if (!python) console.log('peers skipped: LZERO_PYTHON is not set (bench/peers/README.md)');
const scratch = mkdtempSync(join(tmpdir(), 'lzero-bench-'));
const parts: Part[] = [];
try {
  const corpus = writeCorpus(scratch, data);
  for (const name of wanted) {
    const part = await teacherPart(name, join(weights, name), { ...corpus, python, rounds });
    printPart(part);
    parts.push(part);
  }
} finally {
  rmSync(scratch, { recursive: true });
}
if (values.json) writeResults(values.json, where, parts);
