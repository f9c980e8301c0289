/** The two forms of the window search behind one face: WebAssembly where the machine has its SIMD, TypeScript elsewhere. */
import type { LinearMemory } from './linear-memory.ts';
import { instantiate, type WasmMemory, webAssembly } from './webassembly.ts';
import { search, sortHeap } from './window-search.ts';
import { PRIVATE_MEMORY_KERNEL, SHARED_MEMORY_KERNEL } from './window-search-bytes.ts';

/** In which language the inner loops run. Results are the same to the bit. */
export type KernelName = 'wasm' | 'typescript';

/** The window search over one linear memory; requests and results are blocks in it, as in layout.ts. */
export type Kernel = {
  readonly name: KernelName;
  /** Searches one segment for the request at this address; results gather in its heap. */
  search(request: number): void;
  /** Sorts the heap of a request, best result first. */
  sortHeap(request: number): void;
};

/** The kernel of this name; the TypeScript one where WebAssembly or its SIMD is missing. */
export function createKernel(memory: LinearMemory, name: KernelName = 'wasm'): Kernel {
  return (name === 'wasm' ? wasmKernel(memory) : undefined) ?? typescriptKernel(memory);
}

function typescriptKernel(memory: LinearMemory): Kernel {
  return {
    name: 'typescript',
    search: (request) => search(memory.views, request),
    sortHeap: (request) => sortHeap(memory.views, request),
  };
}

function wasmKernel({ bytes }: LinearMemory): Kernel | undefined {
  if (!isWasmMemory(bytes)) return undefined;
  const shared = typeof SharedArrayBuffer !== 'undefined' && bytes.buffer instanceof SharedArrayBuffer;
  const functionOf = instantiate(shared ? SHARED_MEMORY_KERNEL : PRIVATE_MEMORY_KERNEL, bytes);
  return functionOf && { name: 'wasm', search: functionOf('search'), sortHeap: functionOf('sortHeap') };
}

function isWasmMemory(bytes: object): bytes is WasmMemory {
  return webAssembly !== undefined && bytes instanceof webAssembly.Memory;
}
