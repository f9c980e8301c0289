/** What HTML elements mean for the text of a page. Tables and rules only; html-blocks.ts acts on them. */

/** Attributes of an element, names in lower case. */
export type Attributes = Readonly<Record<string, string>>;

/** What an element does to the text inside. */
export type ElementRole = {
  /** Nothing in it is text of the page. */
  readonly isDropped: boolean;
  /** Navigation and the like: left out if the page has anything else. */
  readonly isBoilerplate: boolean;
  /** Begins and ends paragraphs. */
  readonly isBlock: boolean;
  readonly region: Region | undefined;
};

/** Where the main text is, best first. */
export type Region = 'body' | 'main' | 'article';

const names = (list: string): ReadonlySet<string> => new Set(list.split(' '));

/** Their content is not text, or not text for reading. */
const DROPPED = names(
  'script style template noscript svg iframe object canvas audio video button select datalist textarea map noframes ' +
    'noembed frameset applet annotation annotation-xml rp',
);

const BLOCKS = names(
  'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure ' +
    'footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol p plaintext pre section ' +
    'summary table tbody td tfoot th thead tr ul xmp',
);

const BOILERPLATE = names('nav footer');
const BOILERPLATE_ROLES = names('navigation banner contentinfo search complementary menu menubar toolbar');

/** Notes that belong to the text, though they stand in an <aside>. */
const NOTE = /\b(?:note|admonition|topic|footnote|warning|caution|tip|important|callout|doc-\w+)\b/i;

/** Columns of line numbers beside listings. */
const LINE_NUMBERS = /(?:^|\s)(?:linenos?|linenodiv|line-numbers-rows|gutter)(?:\s|$)/;

/** Elements that keep their line breaks. */
export const PREFORMATTED = names('pre listing xmp plaintext');

/** Elements whose content the parser reads as text: parsing must not begin anew inside of them. */
export const RAW_TEXT = names('script style title textarea xmp iframe noembed noframes noscript plaintext');

/** What an element means. `inMain`: it stands inside <main> or <article>. */
export function roleOf(name: string, attributes: Attributes, inMain: boolean): ElementRole {
  return {
    isDropped: DROPPED.has(name) || isHidden(name, attributes) || LINE_NUMBERS.test(attributes.class ?? ''),
    isBoilerplate: isBoilerplate(name, attributes, inMain),
    isBlock: BLOCKS.has(name),
    region: regionOf(name, attributes),
  };
}

function isHidden(name: string, attributes: Attributes): boolean {
  if (attributes.hidden !== undefined && attributes.hidden !== 'until-found') return true;
  if (attributes['aria-hidden'] === 'true') return true;
  if (name === 'dialog' && attributes.open === undefined) return true;
  return /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b/i.test(attributes.style ?? '');
}

function isBoilerplate(name: string, attributes: Attributes, inMain: boolean): boolean {
  const role = attributes.role?.trim().toLowerCase() ?? '';
  if (BOILERPLATE.has(name) || BOILERPLATE_ROLES.has(role)) return true;
  // The header of an article holds its title, the header of a site its menu.
  if (name === 'header') return !inMain;
  return name === 'aside' && !NOTE.test(`${role} ${attributes.class ?? ''}`);
}

function regionOf(name: string, attributes: Attributes): Region | undefined {
  const role = attributes.role?.trim().toLowerCase();
  if (name === 'main' || role === 'main') return 'main';
  return name === 'article' || role === 'article' ? 'article' : undefined;
}
