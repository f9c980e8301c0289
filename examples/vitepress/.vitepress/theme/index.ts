/** The default theme with <lzero-search> in its navigation bar. */
import { useRouter, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { defineComponent, h } from 'vue';
import './style.css';

const SearchBox = defineComponent(() => {
  const router = useRouter();
  // VitePress shows the page without loading the site anew.
  const go = (event: CustomEvent<{ url: string }>): void => {
    const { url } = event.detail;
    if (new URL(url).origin !== location.origin) return;
    event.preventDefault();
    void router.go(url);
  };
  const attributes = { src: withBase('/search/'), mode: 'dialog', theme: 'page', hotkey: 'ctrl+k /' };
  return () => h('lzero-search', { ...attributes, onLzeroSelect: go });
});

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'nav-bar-content-before': () => h(SearchBox) }),
};
