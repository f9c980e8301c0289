/**
 * Compiles the AssemblyScript kernels, for a private and for a shared memory, into src/kernels/window-search-bytes.ts.
 * The bytes are committed, so that nobody needs the compiler to install or to bundle; a test compiles again and compares.
 *
 *     npx tsx scripts/build-kernels.ts        after every change in src/kernels/assembly or src/kernels/layout.ts
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compileKernels } from './compile-kernels.ts';

const TARGET = fileURLToPath(new URL('../src/kernels/window-search-bytes.ts', import.meta.url));

const { privateMemory, sharedMemory } = await compileKernels();
writeFileSync(
  TARGET,
  `/** Written by scripts/build-kernels.ts from assembly/window-search.ts. Do not edit. */

/** The kernel for a memory of one thread, WebAssembly in base64. */
export const PRIVATE_MEMORY_KERNEL =
  '${privateMemory.toString('base64')}';

/** The kernel for a memory that threads share, WebAssembly in base64. */
export const SHARED_MEMORY_KERNEL =
  '${sharedMemory.toString('base64')}';
`,
);
console.log(`private memory ${privateMemory.length} bytes, shared memory ${sharedMemory.length} bytes`);
