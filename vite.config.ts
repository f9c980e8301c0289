/** Builds a page into dist, with all that it needs inside: that of `lzero view`, or with `--mode serve` that of `lzero serve`. */
import { defineConfig } from 'vite';

export default defineConfig(({ mode }) => {
  const page = mode === 'serve' ? 'serve' : 'view';
  return {
    root: `web/${page}`,
    base: './',
    publicDir: false,
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: `../../dist/web/${page}`,
      emptyOutDir: true,
      assetsInlineLimit: 0, // no data: addresses, whatever the policy of the page allows
      modulePreload: false,
    },
  };
});
