/** Builds the page of `lzero view` into dist, with all that it needs inside. */
import { defineConfig } from 'vite';

export default defineConfig({
  root: 'web/view',
  base: './',
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../dist/web/view',
    emptyOutDir: true,
    assetsInlineLimit: 0, // no data: addresses, whatever the policy of the page allows
    modulePreload: false,
  },
});
