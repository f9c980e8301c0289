import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    // Worker threads started by the code under test inherit this, so they load .ts files as the tests do.
    execArgv: ['--import', 'tsx'],
    testTimeout: 20_000,
    coverage: { include: ['src/**/*.ts'], exclude: ['src/**/*.test.ts'] },
  },
});
