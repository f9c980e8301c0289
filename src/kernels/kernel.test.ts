import { describe, expect, it } from 'vitest';
import { compileKernels } from '../../scripts/compile-kernels.ts';
import { createKernel } from './kernel.ts';
import { LinearMemory } from './linear-memory.ts';
import { TRAINING_KERNEL } from './training-bytes.ts';
import { PRIVATE_MEMORY_KERNEL, SHARED_MEMORY_KERNEL } from './window-search-bytes.ts';

const MAX_KERNEL_BYTES = 10_000;

describe('the kernels in WebAssembly', () => {
  it('are what scripts/build-kernels.ts makes of the source', async () => {
    const { privateMemory, sharedMemory, training } = await compileKernels();
    expect(privateMemory.toString('base64')).toBe(PRIVATE_MEMORY_KERNEL);
    expect(sharedMemory.toString('base64')).toBe(SHARED_MEMORY_KERNEL);
    expect(training.toString('base64')).toBe(TRAINING_KERNEL);
  }, 120_000);

  it.each([PRIVATE_MEMORY_KERNEL, SHARED_MEMORY_KERNEL])('take at most 10 KB', (base64) => {
    expect(Buffer.from(base64, 'base64').length).toBeLessThanOrEqual(MAX_KERNEL_BYTES);
  });
});

describe('createKernel', () => {
  it.each([{ shared: false }, { shared: true }])('takes WebAssembly for %o', (options) => {
    expect(createKernel(LinearMemory.create(options)).name).toBe('wasm');
  });

  it('takes TypeScript where it is asked to, or where the memory is not one of WebAssembly', () => {
    expect(createKernel(LinearMemory.create(), 'typescript').name).toBe('typescript');
    expect(createKernel(LinearMemory.create({ plain: true }), 'wasm').name).toBe('typescript');
  });
});
