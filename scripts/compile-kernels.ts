/** Calls the AssemblyScript compiler with the settings of our kernels. */
import { fileURLToPath } from 'node:url';
import { main } from 'assemblyscript/asc';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const SETTINGS = [
  '-O3',
  '--enable', 'simd',
  '--runtime', 'stub', // no allocation, no garbage collection
  '--importMemory', '--noExportMemory',
  '--use', 'abort=', // nothing can throw, so nothing is imported but the memory
]; // biome-ignore format: one setting a line

const SHARED = ['--sharedMemory', '--enable', 'threads', '--initialMemory', '1', '--maximumMemory', '65536'];

/** The kernels as WebAssembly: the search for a memory of one thread and for one that threads share, and training. */
export async function compileKernels(): Promise<{ privateMemory: Buffer; sharedMemory: Buffer; training: Buffer }> {
  return {
    privateMemory: await compile('window-search.ts'),
    sharedMemory: await compile('window-search.ts', SHARED),
    training: await compile('training.ts'),
  };
}

async function compile(source: string, extra: readonly string[] = []): Promise<Buffer> {
  let bytes: Buffer | undefined;
  const { error, stderr } = await main(
    [`src/kernels/assembly/${source}`, '--baseDir', ROOT, '--outFile', 'kernel.wasm', ...SETTINGS, ...extra],
    {
      writeFile: (name: string, contents: Uint8Array | string) => {
        if (name === 'kernel.wasm' && typeof contents !== 'string') bytes = Buffer.from(contents);
      },
    },
  );
  if (error || !bytes) throw new Error(`asc failed: ${stderr.toString()}`, { cause: error });
  return bytes;
}
