/** Builds <lzero-search> into dist/web/site/lzero-search.js, one file with its style inside; `lzero site build` copies it. */
import { defineConfig } from 'vite';

export default defineConfig({
  publicDir: false,
  build: {
    outDir: 'dist/web/site',
    emptyOutDir: false,
    // What knows light-dark(): theme="page" follows the color-scheme of the page by it.
    target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    modulePreload: false,
    // Not `lib`, which leaves the whitespace in.
    rolldownOptions: { input: 'web/search/lzero-search.ts', output: { entryFileNames: 'lzero-search.js' } },
  },
});
