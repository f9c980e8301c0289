/**
 * The little of the WebAssembly interface that we use, with types of its own: the library compiles with Node's types and
 * with the browser's, and only the latter have it.
 */
import { assert } from '../core/index.ts';

/** A WebAssembly.Memory. */
export type WasmMemory = {
  readonly buffer: ArrayBufferLike;
  /** Adds so many pages of 64 KiB; returns how many there were. */
  grow(pages: number): number;
};

/** A WebAssembly.Instance. */
type WasmInstance = { readonly exports: Readonly<Record<string, unknown>> };

type WebAssemblyApi = {
  readonly Memory: new (limits: { initial: number; maximum: number; shared: boolean }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: { env: { memory: WasmMemory } }) => WasmInstance;
  validate(bytes: Uint8Array): boolean;
};

declare const WebAssembly: WebAssemblyApi | undefined;

/** WebAssembly, where there is one. */
export const webAssembly: WebAssemblyApi | undefined = typeof WebAssembly === 'undefined' ? undefined : WebAssembly;

const compiled = new Map<string, object>();

/**
 * A module, compiled once per thread; undefined where the machine lacks SIMD, which validation finds out, and where the
 * policy of a web page forbids to compile, which only trying does.
 */
function compile(base64: string): object | undefined {
  const known = compiled.get(base64);
  if (known || !webAssembly) return known;
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  if (!webAssembly.validate(bytes)) return undefined;
  try {
    const module = new webAssembly.Module(bytes);
    compiled.set(base64, module);
    return module;
  } catch {
    return undefined;
  }
}

/** A function of a kernel. */
export type WasmFunction = (...values: readonly number[]) => unknown;

/** The functions of a kernel over a memory, by name; undefined where WebAssembly or its SIMD is missing. */
export function instantiate(base64: string, memory: WasmMemory): ((name: string) => WasmFunction) | undefined {
  const module = compile(base64);
  if (!webAssembly || !module) return undefined;
  const { exports } = new webAssembly.Instance(module, { env: { memory } });
  return (name) => {
    const found = exports[name];
    assert(typeof found === 'function', `the kernel exports no function ${name}`);
    return (...values) => found(...values);
  };
}
