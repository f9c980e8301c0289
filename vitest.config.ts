import { defineConfig } from 'vitest/config';

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } }, // as vite.config.ts has it
  test: {
    include: ['src/**/*.test.ts', 'web/**/*.test.ts', 'test/**/*.test.ts'],
    setupFiles: ['test/property-seed.ts'],
    pool: 'forks',
    // Files share a process, and so the modules that each would load again: half the time of the run.
    isolate: false,
    // Tests wait for disks and processes more than they compute.
    maxWorkers: 2,
    testTimeout: 20_000,
    coverage: { include: ['src/**/*.ts'], exclude: ['src/**/*.test.ts'] },
  },
});
