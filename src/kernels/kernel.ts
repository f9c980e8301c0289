/** The two forms of the window search behind one face: WebAssembly where the machine has its SIMD, TypeScript elsewhere. */
import { assert } from '../core/index.ts';
import type { LinearMemory } from './linear-memory.ts';
import { type WasmMemory, webAssembly } from './webassembly.ts';
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
  if (!webAssembly || !isWasmMemory(bytes)) return undefined;
  const shared = typeof SharedArrayBuffer !== 'undefined' && bytes.buffer instanceof SharedArrayBuffer;
  const module = compile(shared ? SHARED_MEMORY_KERNEL : PRIVATE_MEMORY_KERNEL);
  if (!module) return undefined;
  const { exports } = new webAssembly.Instance(module, { env: { memory: bytes } });
  return { name: 'wasm', search: functionOf(exports, 'search'), sortHeap: functionOf(exports, 'sortHeap') };
}

function isWasmMemory(bytes: object): bytes is WasmMemory {
  return webAssembly !== undefined && bytes instanceof webAssembly.Memory;
}

const compiled = new Map<string, object>();

/** A module, compiled once per thread; undefined where the machine lacks SIMD, which validation finds out. */
function compile(base64: string): object | undefined {
  const known = compiled.get(base64);
  if (known || !webAssembly) return known;
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  if (!webAssembly.validate(bytes)) return undefined;
  const module = new webAssembly.Module(bytes);
  compiled.set(base64, module);
  return module;
}

function functionOf(exports: Readonly<Record<string, unknown>>, name: string): (request: number) => void {
  const found = exports[name];
  assert(typeof found === 'function', `the kernel exports no function ${name}`);
  return (request) => found(request);
}
