/** Inner loops of search and training in WebAssembly, and their twins in plain TypeScript. */
export type { Kernel, KernelName } from './kernel.ts';
export { createKernel } from './kernel.ts';
export {
  CODES,
  DELETED,
  DENSE,
  DOC_BASE,
  FILTER,
  HEAP,
  HEAP_SIZE,
  K,
  KIND,
  LENGTH,
  LONG_GAPS,
  MAXIMA,
  NUM_DENSE,
  NUM_DOCS,
  NUM_RARE,
  RANKS,
  REQUEST_BYTES,
  SCRATCH,
  SHORT_GAPS,
  STARTS,
  STREAM,
  TERM_BYTES,
  TERMS,
  THRESHOLD,
  WEIGHT,
  WINDOW_SIZE,
} from './layout.ts';
export type { GrowingBytes, LinearMemoryOptions } from './linear-memory.ts';
export { LinearMemory } from './linear-memory.ts';
export type { AdamWOptions, DropoutOptions, TrainingKernel } from './training-kernel.ts';
export { createTrainingKernel } from './training-kernel.ts';
export { allottedBytes, TrainingMemory, TrainingMemoryError } from './training-memory.ts';
export type { AdamWArrays, AddRows, HeadBackward, QuantiseRows } from './training-twin.ts';
export type { WasmMemory } from './webassembly.ts';
export type { MemoryViews } from './window-search.ts';
export { scratchBytes } from './window-search.ts';
