import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 20_000,
    coverage: { include: ['src/**/*.ts'], exclude: ['src/**/*.test.ts'] },
  },
});
