import { defineConfig } from 'vitepress';

export default defineConfig({
  title: 'My site',
  head: [['script', { type: 'module', src: '/search/lzero-search.js' }]],
  vue: { template: { compilerOptions: { isCustomElement: (tag) => tag === 'lzero-search' } } },
});
