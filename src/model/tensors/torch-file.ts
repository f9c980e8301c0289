/**
 * Reads tensors out of pytorch_model.bin, by position and one at a time where the file allows it. The two formats are
 * torch-zip.ts and torch-legacy.ts; the object inside is a pickle, which pickle.ts reads without running it.
 */
import { assert, CheckpointError, quoted } from '../../core/index.ts';
import { numValues } from './dtype.ts';
import { type ByteReading, readFloats } from './float-values.ts';
import type { ReusedMemory } from './reused-memory.ts';
import type { Place, StoredTensor, TensorFile } from './tensor-file.ts';
import { readContent, refuseGrowth, type StoredBytes, type TorchArchive } from './torch-archive.ts';
import { readTorchLegacy } from './torch-legacy.ts';
import { namedTensors } from './torch-state.ts';
import { gather, isRowByRow, spanOf, type TorchTensor, valueBytes } from './torch-tensor.ts';
import { readTorchZip } from './torch-zip.ts';
import { namedTensor, openWeights, type ReadOptions, type WeightsFile } from './weights-file.ts';

/** A tensor of the file: what everybody may know, and how it is read. */
type TensorOfTorch = StoredTensor & { readonly view: TorchTensor; readonly storage: StoredBytes };

/** An open file of torch.save. Close it when done. */
class TorchFile implements TensorFile {
  readonly path: string;
  readonly format = 'torch';
  readonly tensors: ReadonlyMap<string, TensorOfTorch>;
  readonly #file: WeightsFile;
  readonly #isBigEndian: boolean;
  /** Storages of several tensors. Each is inflated once, in whatever order its tensors are asked for. */
  readonly #shared: ReadonlySet<StoredBytes>;
  readonly #inflated = new Map<StoredBytes, ArrayBuffer>();

  constructor(file: WeightsFile, archive: TorchArchive) {
    this.path = file.path;
    this.#file = file;
    this.#isBigEndian = archive.isBigEndian;
    this.tensors = tensorsOf(file, archive);
    this.#shared = sharedStorages(this.tensors.values());
  }

  async readFloat32(name: string, memory?: ReusedMemory): Promise<Float32Array<ArrayBuffer>> {
    const tensor = namedTensor(this, name);
    const read: ByteReading = (visit) => this.#read(tensor, { visit, memory });
    return await readFloats(name, { path: this.path, tensor }, read);
  }

  async readBytes(name: string): Promise<ArrayBuffer> {
    return await this.#read(namedTensor(this, name));
  }

  async close(): Promise<void> {
    this.#inflated.clear();
    await this.#file.close();
  }

  async #read(tensor: TensorOfTorch, options: ReadOptions = {}): Promise<ArrayBuffer> {
    if (tensor.place) return await this.#file.read(tensor.place, options);
    const { view } = tensor;
    const span = await this.#readSpan(tensor);
    if (this.#isBigEndian) swapBytes(span, view.dtype === 'C64' ? 4 : valueBytes(view.dtype));
    const bytes = isRowByRow(view) ? span : gather(view, span);
    options.visit?.(bytes, 0, bytes.byteLength);
    return bytes;
  }

  /** The bytes from a tensor's first value to its last, in a buffer of their own. */
  async #readSpan({ view, storage }: TensorOfTorch): Promise<ArrayBuffer> {
    const within = placeOf(view, spanOf(view));
    const { place, deflated } = storage;
    if (!deflated) return await this.#file.read({ offset: place.offset + within.offset, length: within.length });
    const content = await this.#inflate(view.storage.key, storage);
    return content.slice(within.offset, within.offset + within.length);
  }

  async #inflate(key: string, storage: StoredBytes): Promise<ArrayBuffer> {
    const content = this.#inflated.get(storage) ?? (await readContent(this.#file, key, storage));
    if (this.#shared.has(storage)) this.#inflated.set(storage, content);
    return content;
  }
}

/** Opens a file of torch.save and reads the descriptions of its tensors; executes nothing of it. */
export async function openTorchFile(path: string): Promise<TensorFile> {
  return await openWeights(path, async (file) => new TorchFile(file, await readArchive(file)));
}

const ZIP_START = 'PK\u0003\u0004';
const PICKLE_START = '\u0080';

async function readArchive(file: WeightsFile): Promise<TorchArchive> {
  const bytes = await file.read({ offset: 0, length: Math.min(32, file.sizeBytes) });
  const start = Buffer.from(bytes).toString('latin1');
  if (start.startsWith(ZIP_START)) return await readTorchZip(file);
  if (start.startsWith(PICKLE_START)) return await readTorchLegacy(file);
  const isPointer = start.startsWith('version https://git-lfs');
  throw new CheckpointError(`${file.path}: neither format of torch.save; it starts with ${quoted(start)}`, {
    hint: isPointer
      ? 'this is a pointer of Git LFS: fetch the file itself with `git lfs pull`'
      : 'the file is damaged or of another kind: fetch or export it again',
  });
}

function tensorsOf(file: WeightsFile, { object, storages, isBigEndian }: TorchArchive): Map<string, TensorOfTorch> {
  const tensors = new Map<string, TensorOfTorch>();
  let totalBytes = 0;
  for (const [name, view] of namedTensors(file.path, object)) {
    const storage = storages.get(view.storage.key);
    assert(storage !== undefined, `the storage ${view.storage.key} was not looked for`); // by checkStorages
    const { dtype, shape } = view;
    const isSwapped = isBigEndian && valueBytes(dtype) > 1;
    const isAsWanted = !storage.deflated && !isSwapped && isRowByRow(view);
    const within = placeOf(view, numValues(shape));
    const place = isAsWanted ? { offset: storage.place.offset + within.offset, length: within.length } : undefined;
    tensors.set(name, { dtype, shape, place, view, storage });
    totalBytes += Math.max(within.length, spanOf(view) * valueBytes(dtype)); // a view with holes is read with them
  }
  refuseGrowth(file, 'tensors', totalBytes);
  return tensors;
}

function sharedStorages(tensors: Iterable<TensorOfTorch>): Set<StoredBytes> {
  const seen = new Set<StoredBytes>();
  const shared = new Set<StoredBytes>();
  for (const { storage } of tensors) (seen.has(storage) ? shared : seen).add(storage);
  return shared;
}

/** Bytes of so many values from a tensor's first one on, counted from the start of its storage. */
function placeOf({ dtype, offset }: TorchTensor, count: number): Place {
  return { offset: offset * valueBytes(dtype), length: count * valueBytes(dtype) };
}

/** Turns values of so many bytes around, in place. */
function swapBytes(buffer: ArrayBuffer, bytes: number): void {
  const view = Buffer.from(buffer);
  if (bytes === 2) view.swap16();
  if (bytes === 4) view.swap32();
  if (bytes === 8) view.swap64();
}
