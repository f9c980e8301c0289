/**
 * Builds what draws figures into dist/web/figures, each with all that it needs inside: `--mode svg` the module for Node,
 * `--mode page` the script that stands in every page, and so carries the licences of what is in it.
 */
import { readFileSync } from 'node:fs';
import { defineConfig } from 'vite';

const licence = (name: string): string =>
  readFileSync(new URL(`node_modules/${name}/LICENSE`, import.meta.url), 'utf8');

/** Of d3's parts those whose licence says more than d3's own. */
const LICENCES = `/*!\nObservable Plot. ${licence('@observablehq/plot')}
d3, d3-geo, isoformat. ${licence('d3-geo')}
d3-scale-chromatic. ${licence('d3-scale-chromatic')}*/`;

export default defineConfig(({ mode }) => ({
  publicDir: false,
  build: {
    outDir: 'dist/web/figures',
    emptyOutDir: false,
    minify: true,
    target: mode === 'svg' ? 'node20' : 'es2022',
    lib:
      mode === 'svg'
        ? { entry: 'web/figures/draw-svg.ts', formats: ['es'], fileName: () => 'draw-svg.js' }
        : { entry: 'web/figures/page.ts', formats: ['iife'], name: 'figure', fileName: () => 'page.js' },
    rolldownOptions: { output: { postBanner: LICENCES } },
  },
}));
