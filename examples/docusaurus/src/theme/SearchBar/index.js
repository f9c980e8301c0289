import { useHistory } from '@docusaurus/router';
import useBaseUrl from '@docusaurus/useBaseUrl';
import { useEffect, useRef } from 'react';

/** Takes the place of the theme's own search bar. */
export default function SearchBar() {
  const box = useRef(null);
  const history = useHistory();
  useEffect(() => {
    // Docusaurus shows the page without loading the site anew.
    const go = (event) => {
      const { origin, pathname, search, hash } = new URL(event.detail.url);
      if (origin !== location.origin) return;
      event.preventDefault();
      history.push(pathname + search + hash);
    };
    const element = box.current;
    element.addEventListener('lzero-select', go);
    return () => element.removeEventListener('lzero-select', go);
  }, [history]);
  return <lzero-search ref={box} src={useBaseUrl('/search/')} mode="dialog" theme="page" hotkey="ctrl+k /" />;
}
