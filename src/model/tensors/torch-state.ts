/** Finds the named tensors in what torch.save was given: a state_dict, alone or inside a training checkpoint. */
import { CheckpointError, quoted } from '../../core/index.ts';
import { kindOf, type PickleDict, type PickleValue } from './pickle-values.ts';
import { TorchTensor } from './torch-tensor.ts';

/** Keys under which training programs keep the state_dict among other things. */
const WRAPPERS = ['state_dict', 'model'];
/** Keys in a message. */
const MAX_KEYS = 8;

/**
 * The tensors by name. Other values, such as counters of an optimiser, are left out. A training checkpoint may keep
 * tensors beside its state_dict, such as the best loss: the dict that has the most of them is meant.
 */
export function namedTensors(path: string, object: PickleValue): Map<string, TorchTensor> {
  if (!(object instanceof Map))
    throw new CheckpointError(`${path}: expected a dict of tensors, got ${kindOf(object)}`, {
      hint: 'save model.state_dict(), not the model',
    });
  const candidates = [...wrapped(object), object].map(tensorsOf);
  const tensors = candidates.reduce((most, other) => (other.size > most.size ? other : most));
  if (tensors.size > 0) return tensors;
  throw new CheckpointError(`${path}: a dict without tensors, ${keysOf(object)}`, {
    hint: 'save model.state_dict(); it may also be under "state_dict" or "model"',
  });
}

function wrapped(dict: PickleDict): PickleDict[] {
  return WRAPPERS.map((key) => dict.get(key)).filter((value) => value instanceof Map);
}

function tensorsOf(dict: PickleDict): Map<string, TorchTensor> {
  const tensors = new Map<string, TorchTensor>();
  for (const [name, value] of dict)
    if (typeof name === 'string' && value instanceof TorchTensor) tensors.set(name, value);
  return tensors;
}

function keysOf(dict: PickleDict): string {
  const keys = [...dict.keys()].map((key) => (typeof key === 'string' ? quoted(key) : kindOf(key)));
  if (keys.length === 0) return 'it is empty';
  return `its keys are ${keys.slice(0, MAX_KEYS).join(', ')}${keys.length > MAX_KEYS ? ', …' : ''}`;
}
