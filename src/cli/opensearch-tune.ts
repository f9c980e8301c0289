/** `lzero opensearch tune`: which share and normalisation of a hybrid with BM25 serve the judged queries of a collection best. */
import { Command } from 'commander';
import { type Collection, openCollection } from '../data/index.ts';
import { engineSystem, evaluateRun, mean, runSystem } from '../eval/index.ts';
import type { Model } from '../model/index.ts';
import {
  chooseHybrid,
  type HybridCandidate,
  type HybridChoice,
  type HybridTrial,
  openOpenSearchIndex,
  parseAddress,
  type QueryStyle,
  type Server,
} from '../opensearch/index.ts';
import type { CliContext } from './context.ts';
import { addQueryModelOptions } from './model-options.ts';
import { ADDRESS_HELP, addServerOptions, modelOfIndex, type OpenOptions, serverOf } from './opensearch-options.ts';
import { withExamples } from './program.ts';

type TuneOptions = OpenOptions & { readonly split?: string };

const METRIC = 'ndcg@10';
const SHARES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const TECHNIQUES = ['min_max', 'l2'] as const;

/** The `opensearch tune` command. */
export function opensearchTuneCommand(context: CliContext): Command {
  const command = new Command('tune')
    .description('choose share and normalisation of --hybrid on judged queries; measured on those not chosen by')
    .argument('<address>', ADDRESS_HELP)
    .argument('<collection>', 'BEIR folder with queries and judgements; the index holds its documents')
    .option('--split <name>', 'which judgements: not those that you report with (default: test)');
  addServerOptions(addQueryModelOptions(command)).action((address: string, folder: string, options: TuneOptions) =>
    tune(context, { address, folder, options }),
  );
  return withExamples(command, {
    'lzero opensearch tune http://localhost:9200/scifact ./scifact --split train': 'prints the best --hybrid',
  });
}

type TuneCall = { readonly address: string; readonly folder: string; readonly options: TuneOptions };

async function tune(context: CliContext, { address, folder, options }: TuneCall): Promise<void> {
  const { logger, signal } = context;
  const parsed = parseAddress(address);
  const collection = await openCollection(folder, { split: options.split, logger, signal });
  const server = await serverOf(context, parsed, options);
  let model: Model | undefined;
  try {
    model = await modelOfIndex(context, { server, index: parsed.index, options });
    const measured = await measureAll(context, { server, index: parsed.index, model, collection });
    await tell(context, { ...measured, choice: chooseHybrid(measured.trials) });
  } finally {
    await model?.close();
    server.close();
  }
}

type Place = {
  readonly server: Server;
  readonly index: string;
  readonly model: Model;
  readonly collection: Collection;
};

type Measured = { readonly trials: readonly HybridTrial[]; readonly learnedAlone: number };

async function measureAll(context: CliContext, place: Place): Promise<Measured> {
  const candidates = TECHNIQUES.flatMap((technique) => SHARES.map((share) => ({ technique, share })));
  const numQueries = place.collection.queries.length;
  const progress = context.progress();
  progress.start({ label: 'searching', unit: 'queries', total: (candidates.length + 1) * numQueries, done: 0 });
  let numDone = 0;
  const measure = async (style: QueryStyle): Promise<ReadonlyMap<string, number>> => {
    const onProgress = (done: number): void => progress.update(numDone + done);
    const values = await perQuery(style, place, { signal: context.signal, onProgress });
    numDone += numQueries;
    return values;
  };
  try {
    const alone = [...(await measure({})).values()];
    const trials: HybridTrial[] = [];
    for (const { technique, share } of candidates)
      trials.push({ technique, share, perQuery: await measure({ hybridShare: share, hybridTechnique: technique }) });
    return { trials, learnedAlone: mean(alone) };
  } finally {
    progress.stop();
  }
}

type Watching = { readonly signal: AbortSignal; readonly onProgress: (numDone: number) => void };

async function perQuery(
  style: QueryStyle,
  { server, index, model, collection }: Place,
  watching: Watching,
): Promise<ReadonlyMap<string, number>> {
  const opened = await openOpenSearchIndex(server, index, { model, query: style });
  const { run } = await runSystem(engineSystem(opened, { name: 'tuned', id: 'tuned' }), collection, {
    k: 10,
    ...watching,
  });
  const { perQuery: values } = evaluateRun(run, collection.qrels, { metrics: [METRIC], averageOver: 'judged' });
  return new Map([...values].map(([id, metrics]) => [id, metrics[METRIC]]));
}

async function tell(
  context: CliContext,
  { trials, learnedAlone, choice }: Measured & { readonly choice: HybridChoice },
): Promise<void> {
  const rows = trials.map(({ technique, share, perQuery: values }) => ({
    technique,
    share,
    [METRIC]: mean([...values.values()]),
  }));
  if (context.options.json)
    return await context.stdout.writeJson({
      numQueries: trials[0].perQuery.size,
      learnedAlone,
      trials: rows,
      ...choice,
    });
  const line = (name: string, value: number): string => `${name.padEnd(44)}${value.toFixed(4)}`;
  const lines = [
    line('NDCG@10, learned terms alone', learnedAlone),
    ...rows.map((row) => line(`  ${optionOf(row)}`, row[METRIC])),
    line(`best: ${optionOf(choice.best)}`, choice.mean),
    line('chosen on one half, measured on the other', choice.heldOut),
    choice.heldOut > learnedAlone ? `use ${optionOf(choice.best)}` : 'BM25 adds nothing that lasts: leave --hybrid out',
  ];
  await context.stdout.write(`${lines.join('\n')}\n`);
}

function optionOf({ technique, share }: HybridCandidate): string {
  return `--hybrid ${share}${technique === 'min_max' ? '' : ` --hybrid-technique ${technique}`}`;
}
