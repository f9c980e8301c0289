/** The file that pages load: it makes <lzero-search> known to the browser. */
import { LzeroSearch } from './search-element.ts';

if (!customElements.get('lzero-search')) customElements.define('lzero-search', LzeroSearch);
