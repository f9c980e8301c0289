/**
 * Compiles the AssemblyScript kernels: the search, for a private and for a shared memory, into
 * src/kernels/window-search-bytes.ts, and those of training into src/kernels/training-bytes.ts. The bytes are committed,
 * so that nobody needs the compiler to install or to bundle; a test compiles again and compares.
 *
 *     npx tsx scripts/build-kernels.ts        after every change in src/kernels/assembly or the constants it imports
 */
import { writeFileSync } from 'node:fs';
import { compileKernels } from './compile-kernels.ts';

const KERNELS = new URL('../src/kernels/', import.meta.url);

const { privateMemory, sharedMemory, training } = await compileKernels();
writeFileSync(
  new URL('window-search-bytes.ts', KERNELS),
  `/** Written by scripts/build-kernels.ts from assembly/window-search.ts. Do not edit. */

/** The kernel for a memory of one thread, WebAssembly in base64. */
export const PRIVATE_MEMORY_KERNEL =
  '${privateMemory.toString('base64')}';

/** The kernel for a memory that threads share, WebAssembly in base64. */
export const SHARED_MEMORY_KERNEL =
  '${sharedMemory.toString('base64')}';
`,
);
writeFileSync(
  new URL('training-bytes.ts', KERNELS),
  `/** Written by scripts/build-kernels.ts from assembly/training.ts. Do not edit. */

/** The kernels of training, WebAssembly in base64. */
export const TRAINING_KERNEL =
  '${training.toString('base64')}';
`,
);
console.log(
  `search: private memory ${privateMemory.length} bytes, shared memory ${sharedMemory.length} bytes; training: ${training.length} bytes`,
);
