/**
 * Builds the scripts that `lzero site build` puts beside an index into dist/web/site, each with all that it needs inside:
 * by `--mode`, `script` is what pages load, `engine` what searches, `offline` the service worker.
 */
import { defineConfig } from 'vite';

const ENTRIES: Readonly<Record<string, readonly [entry: string, file: string]>> = {
  script: ['src/browser/open.ts', 'lzero.js'],
  engine: ['src/browser/engine-worker.ts', 'lzero-engine.js'],
  offline: ['web/site/offline.ts', 'lzero-offline.js'],
};

export default defineConfig(({ mode }) => {
  const [entry, file] = ENTRIES[mode] ?? ENTRIES.script;
  return {
    publicDir: false,
    build: {
      outDir: 'dist/web/site',
      emptyOutDir: false,
      minify: true,
      target: 'es2022',
      lib: { entry, formats: ['es'], fileName: () => file },
      rolldownOptions: { output: { minify: true } }, // a library's ES modules would keep their spaces
    },
  };
});
