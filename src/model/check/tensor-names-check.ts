/**
 * Check of what tensors are called. lzero finds BERT's words wherever they stand in a name; transformers knows its own names
 * only, and takes random numbers in place of what it does not find, with no more than a warning.
 */
import { Random } from '../../core/index.ts';
import { Checkpoint } from '../checkpoint.ts';
import { tensorLabel } from '../tensors/weights-file.ts';
import { effectOfTensors } from './mixed-network.ts';
import { type CheckResult, differs, type Effect, notApplicable, ok } from './report.ts';
import { encoderFolderOf, hasProblem, type Subject } from './subject.ts';

/** Whether transformers finds every tensor under its name. */
export async function checkTensorNames(subject: Subject): Promise<CheckResult> {
  const id = 'tensor-names';
  const folder = encoderFolderOf(subject);
  if (folder === undefined) return notApplicable(id, 'the model has no file of weights');
  const checkpoint = await Checkpoint.open(folder).catch(hasProblem);
  if (checkpoint === undefined) return notApplicable(id, 'the weights cannot be used');
  try {
    const { usedNames, unusualNames } = checkpoint;
    const [first] = unusualNames.values();
    if (first === undefined) return ok(id, 'transformers finds every tensor');
    const count = `${unusualNames.size} of ${usedNames.length}`;
    return differs(id, {
      found: [
        `transformers does not know the names of ${count} tensors, the first ${tensorLabel(first)}: it takes random numbers`,
      ],
      effect: await effectOfRandom(subject, checkpoint),
      fix: `write them under the usual names: lzero model import ${subject.folder} -o MODEL does`,
    });
  } finally {
    await checkpoint.close();
  }
}

/** How transformers fills matrices that it does not find: normal, of this deviation; biases with 0, LayerNorm with 1. */
const DEVIATION = 0.02;

/** What one draw of such numbers does: any other does as much. */
async function effectOfRandom(subject: Subject, checkpoint: Checkpoint): Promise<Effect | undefined> {
  const { unusualNames } = checkpoint;
  const random = new Random(1);
  const initial = (name: string): number => {
    if (name.endsWith('bias')) return 0;
    return /LayerNorm\.weight$/.test(name) ? 1 : DEVIATION * random.normal();
  };
  return await effectOfTensors(subject, checkpoint, (name, values) =>
    unusualNames.has(name) ? values.map(() => initial(name)) : values,
  );
}
