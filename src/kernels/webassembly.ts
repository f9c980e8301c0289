/**
 * The little of the WebAssembly interface that we use, with types of its own: the library compiles with Node's types and
 * with the browser's, and only the latter have it.
 */

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
