/**
 * <lzero-search>: a search box for a folder that `lzero site build` wrote. Holds the parts together: what is typed, what is
 * asked, what is shown, which option is active. How results look is the business of results.ts, why.ts and style.css.
 */
import type { SiteAnswer, SiteSearch } from '../../src/browser/types.ts';
import { type Box, drawBox, type Mode } from './box.ts';
import { make } from './dom.ts';
import { drawFacets, filterOf } from './facets.ts';
import { failureOf } from './failure.ts';
import { hotkeysOf, isHotkey, NO_OPTION, optionAfter } from './keys.ts';
import { Panel } from './panel.ts';
import { type Session, startSession } from './session.ts';
import { counted, filled, type Strings, stringsFor } from './strings.ts';
import styleText from './style.css?inline';
import { drawWhy } from './why.ts';

const DEFAULT_NUM_HITS = 10;
/** An answer that takes longer is worth a word; sooner, the word would only flicker. */
const PATIENCE_MS = 400;
/** Screen readers hear how many results there are once typing has paused so long. */
const PAUSE_MS = 500;
const MODES: readonly string[] = ['popup', 'page', 'dialog'] satisfies readonly Mode[];

const styleSheet = new CSSStyleSheet();
styleSheet.replaceSync(styleText);

/** The element. Attributes, properties, events and parts are described in docs/SEARCH-BOX.md. */
export class LzeroSearch extends HTMLElement {
  static readonly observedAttributes = [
    'src',
    'mode',
    'lang',
    'k',
    'hotkey',
    'action',
    'deep-link',
    'placeholder',
    'label',
    'strings',
  ];

  readonly #root: ShadowRoot;
  #box: Box | undefined;
  #panel: Panel | undefined;
  #session: Session | undefined;
  #search: SiteSearch | undefined;
  #ownStrings: Partial<Strings> = {};
  #strings: Strings = stringsFor('en');
  #answer: SiteAnswer | undefined;
  /** Enter came before the answer. */
  #isEntered = false;
  #patience: ReturnType<typeof setTimeout> | undefined;
  #pause: ReturnType<typeof setTimeout> | undefined;
  /** Ends what listens to the page, which outlives the element. */
  #listening: AbortController | undefined;

  constructor() {
    super();
    this.#root = this.attachShadow({ mode: 'open', delegatesFocus: true });
    this.#root.adoptedStyleSheets = [styleSheet];
  }

  /** What is typed. Setting it asks. */
  get value(): string {
    return this.#box?.input.value ?? '';
  }

  set value(text: string) {
    if (!this.#box) return;
    this.#box.input.value = text;
    this.#typed();
  }

  /** Words of the page's own, in place of those of its language. */
  get strings(): Partial<Strings> {
    return this.#ownStrings;
  }

  set strings(strings: Partial<Strings>) {
    this.#ownStrings = strings;
    this.#rebuild();
  }

  /** Puts the reader into the box; opens the dialog where there is one. */
  open(): void {
    const { dialog, input } = this.#box ?? {};
    if (dialog?.isConnected && !dialog.open) dialog.showModal();
    input?.focus();
    input?.select();
  }

  /** Closes results, and the dialog where there is one. What is typed stays. */
  close(): void {
    this.#box?.dialog.close();
    this.#panel?.collapse();
  }

  connectedCallback(): void {
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    document.addEventListener('keydown', (event) => this.#pressedAnywhere(event), { signal });
    window.addEventListener('resize', () => this.#panel?.place(), { signal });
    window.addEventListener('online', () => this.#panel?.isAlarmed && this.#ask(), { signal });
    this.#rebuild();
    const linked = this.#parameter && new URLSearchParams(location.search).get(this.#parameter);
    if (linked) {
      if (this.#mode === 'dialog') this.open();
      this.value = linked;
    }
  }

  disconnectedCallback(): void {
    this.#listening?.abort();
    this.#forget();
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (before === after || !this.isConnected || !this.#box) return;
    if (name === 'src') this.#forget();
    this.#rebuild();
  }

  get #mode(): Mode {
    const mode = this.getAttribute('mode') ?? 'popup';
    if (!isMode(mode)) throw new TypeError(`<lzero-search>: mode is one of ${MODES.join(', ')}, not "${mode}"`);
    return mode;
  }

  get #language(): string {
    const [inherited] = [this.closest('[lang]')?.getAttribute('lang'), document.documentElement.lang].filter(Boolean);
    return inherited && isLanguage(inherited) ? inherited : 'en';
  }

  /** The parameter of the page's address that has the query; '' where it is left alone. */
  get #parameter(): string {
    return this.hasAttribute('deep-link') ? this.getAttribute('deep-link') || 'q' : '';
  }

  get #folder(): URL {
    const src = this.getAttribute('src');
    if (src === null) return new URL(/* @vite-ignore */ '.', import.meta.url);
    return new URL(src.endsWith('/') ? src : `${src}/`, document.baseURI);
  }

  /** Draws the box anew, with what was typed. */
  #rebuild(): void {
    if (!this.isConnected) return;
    const typed = this.value;
    this.#strings = this.#readStrings();
    const box = drawBox({
      mode: this.#mode,
      strings: this.#strings,
      hotkeys: hotkeysOf(this.getAttribute('hotkey') ?? ''),
      action: this.getAttribute('action') ?? undefined,
      parameter: this.#parameter || 'q',
    });
    this.#box = box;
    this.#panel = new Panel(box, this.#mode);
    this.#answer = undefined;
    this.#root.replaceChildren(...box.root);
    this.#listen(box);
    if (this.#search) this.#drawFacets(this.#search);
    if (typed !== '') this.value = typed;
  }

  #readStrings(): Strings {
    const own: Record<string, unknown> = { ...JSON.parse(this.getAttribute('strings') ?? '{}'), ...this.#ownStrings };
    for (const name of ['label', 'placeholder']) if (this.hasAttribute(name)) own[name] = this.getAttribute(name);
    return stringsFor(this.#language, own);
  }

  #listen(box: Box): void {
    const { input, form, clear, list, panel, facets, why, whyButton, trigger, dialog, close, body } = box;
    input.addEventListener('input', () => this.#typed());
    input.addEventListener('focus', () => this.#prepare());
    input.addEventListener('click', () => this.#panel?.expand());
    form.addEventListener('submit', (event) => this.#submitted(event));
    clear.addEventListener('click', () => {
      this.value = '';
      input.focus();
    });
    body.addEventListener('keydown', (event) => this.#pressed(event));
    list.addEventListener('click', (event) => this.#clicked(event));
    panel.addEventListener('mousedown', (event) => {
      const isControl = event.target instanceof Element && event.target.closest('button, select, .why');
      if (!isControl) event.preventDefault(); // the text keeps the focus
    });
    facets.addEventListener('change', () => this.#ask());
    whyButton.addEventListener('click', () => this.#toggleWhy());
    why.addEventListener('change', (event) => {
      if (event.target instanceof HTMLSelectElement) this.#explain(Number(event.target.value));
    });
    body.addEventListener('focusout', (event) => {
      const to = event.relatedTarget;
      if (!(to instanceof Node && body.contains(to)) && document.hasFocus()) this.#panel?.collapse();
    });
    trigger.addEventListener('click', () => this.open());
    close.addEventListener('click', () => this.close());
    dialog.addEventListener('click', (event) => event.target === dialog && this.close()); // beside the box
  }

  /** Loads what the first question will need, before it is typed. */
  #prepare(): Session {
    this.#session ??= startSession(this.#folder);
    const session = this.#session;
    session.open().then(
      (search) => {
        if (this.#session !== session || this.#search === search) return;
        this.#search = search;
        this.#drawFacets(search);
        this.#tell('lzero-open', search.site);
      },
      () => {}, // the question that meets it will say so
    );
    return session;
  }

  #forget(): void {
    this.#session?.close();
    this.#session = undefined;
    this.#search = undefined;
    clearTimeout(this.#patience);
    clearTimeout(this.#pause);
  }

  #drawFacets({ site }: SiteSearch): void {
    const facets = drawFacets(site.labels, this.#strings);
    this.#box?.facets.replaceChildren(...facets);
    this.#box?.facets.toggleAttribute('hidden', facets.length === 0);
  }

  #typed(): void {
    this.#box?.clear.toggleAttribute('hidden', this.value === '');
    this.#isEntered = false;
    this.#ask();
  }

  /** Asks what is typed, and shows what comes of it. */
  #ask(): void {
    const text = this.value.trim();
    const session = this.#prepare();
    if (text === '') {
      session.drop();
      this.#show(undefined);
      return;
    }
    this.#wait();
    const numHits = Number(this.getAttribute('k') ?? DEFAULT_NUM_HITS);
    const question = {
      k: numHits,
      filter: this.#box && filterOf(this.#box.facets),
      prefix: !/\s$/.test(this.value),
      explain: this.#isExplaining,
    };
    session.ask(text, question).then(
      (answer) => answer && this.#show(answer),
      (error) => this.#fail(error),
    );
  }

  #wait(): void {
    this.#box?.body.classList.add('waiting');
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => {
      const words = this.#search ? this.#strings.searching : this.#strings.loading;
      this.#say(words);
      if (!this.#answer) this.#panel?.notice([words]);
    }, PATIENCE_MS);
  }

  /** Shows an answer; undefined is that to no question. */
  #show(answer: SiteAnswer | undefined): void {
    const [box, panel] = [this.#box, this.#panel];
    if (!box || !panel) return;
    this.#settle();
    const hits = answer?.hits ?? [];
    panel.draw(hits, isSame(this.#answer, answer) ? panel.active : NO_OPTION);
    this.#answer = answer;
    const count = answer ? counted(this.#strings.count, hits.length, this.#language) : '';
    box.count.textContent = count;
    const none = answer && hits.length === 0 ? filled(this.#strings.none, { query: answer.query }) : undefined;
    panel.notice(none === undefined ? [] : [none, this.#strings.noneHint]);
    this.#pause = setTimeout(() => this.#say(none ?? count), PAUSE_MS);
    if (this.#isExplaining) this.#explain(panel.activeRank);
    if (answer) panel.expand();
    else panel.collapse();
    this.#link(answer?.query ?? '');
    if (answer) this.#tell('lzero-answer', answer);
    if (this.#isEntered) panel.options[0]?.click();
    this.#isEntered = false;
  }

  #fail(error: unknown): void {
    const [box, panel] = [this.#box, this.#panel];
    if (!box || !panel) return;
    this.#settle();
    this.#answer = undefined;
    panel.draw([], NO_OPTION);
    box.why.hidden = true;
    const { kind, details } = failureOf(error);
    const retry = make('button', { type: 'button', part: 'retry' }, this.#strings.retry);
    retry.addEventListener('click', () => {
      box.input.focus();
      this.#ask();
    });
    panel.notice([this.#strings[kind], ...details], retry);
    this.#say(this.#strings[kind]);
    this.#tell('lzero-error', error);
  }

  /** Waiting is over. */
  #settle(): void {
    clearTimeout(this.#patience);
    clearTimeout(this.#pause);
    this.#box?.body.classList.remove('waiting');
  }

  /** Tells the page; false where it took the matter over. */
  #tell(name: string, detail: unknown): boolean {
    return this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true, cancelable: true }));
  }

  #say(text: string): void {
    if (this.#box) this.#box.status.textContent = text;
  }

  #pressed(event: KeyboardEvent): void {
    if (event.isComposing || event.target instanceof HTMLSelectElement) return;
    if (event.key === 'Escape') {
      this.#escaped(event);
      return;
    }
    const [box, panel] = [this.#box, this.#panel];
    if (!box || !panel || (event.target !== box.input && event.target !== box.whyButton)) return;
    const option = panel.options[panel.active];
    if (event.key === 'Enter' && event.target === box.input && option) {
      event.preventDefault();
      const { ctrlKey, metaKey, shiftKey } = event;
      const click = { bubbles: true, composed: true, cancelable: true, ctrlKey, metaKey, shiftKey };
      option.dispatchEvent(new MouseEvent('click', click));
      return;
    }
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || box.list.hidden) return;
    const next = optionAfter(event.key, panel.active, panel.options.length);
    if (next === undefined) return;
    event.preventDefault();
    panel.expand();
    this.#activate(next);
  }

  #activate(option: number): void {
    this.#panel?.activate(option);
    if (this.#isExplaining && this.#panel) this.#explain(this.#panel.activeRank);
  }

  /** Closes results first, then clears the text. A dialog closes by itself. */
  #escaped(event: KeyboardEvent): void {
    const { input, panel } = this.#box ?? {};
    if (this.#mode === 'dialog' || !input || !panel) return;
    const isOpen = this.#mode === 'popup' && !panel.hidden;
    if (isOpen || this.value !== '') event.preventDefault();
    if (isOpen) this.#panel?.collapse();
    else this.value = '';
    input.focus();
  }

  #pressedAnywhere(event: KeyboardEvent): void {
    if (event.defaultPrevented || !isHotkey(hotkeysOf(this.getAttribute('hotkey') ?? ''), event)) return;
    event.preventDefault();
    this.open();
  }

  /** Enter without an option: the page of results where there is one, else the first result. */
  #submitted(event: SubmitEvent): void {
    if (this.hasAttribute('action')) return;
    event.preventDefault();
    const isAnswered = this.#answer?.query === this.value.trim();
    if (isAnswered) this.#panel?.options[0]?.click();
    this.#isEntered = !isAnswered; // it opens when it comes
  }

  #clicked(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target : undefined;
    const option = target?.closest<HTMLAnchorElement>('[role=option]');
    if (!option) return;
    const rank = Number(option.dataset.rank);
    if (target?.closest('.ask-why')) {
      event.preventDefault();
      this.#activate(this.#panel?.options.indexOf(option) ?? NO_OPTION);
      if (!this.#isExplaining) this.#toggleWhy();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return; // a new tab: the browser's own way
    const detail = { url: option.href, hit: this.#answer?.hits.find((hit) => hit.rank === rank) };
    if (!this.#tell('lzero-select', detail)) event.preventDefault(); // the page goes there in its own way
    if (this.#mode !== 'page') this.close();
  }

  get #isExplaining(): boolean {
    return this.#box?.whyButton.getAttribute('aria-expanded') === 'true';
  }

  #toggleWhy(): void {
    const { why, whyButton } = this.#box ?? {};
    const isExplaining = !this.#isExplaining;
    whyButton?.setAttribute('aria-expanded', String(isExplaining));
    if (!isExplaining) why?.setAttribute('hidden', '');
    else if (this.#answer?.hits[0]?.explain) this.#explain(this.#panel?.activeRank ?? 1);
    else this.#ask(); // answers carry products only where they were asked for
  }

  #explain(rank: number): void {
    const { why } = this.#box ?? {};
    const hit = this.#answer?.hits.find((one) => one.rank === rank);
    why?.toggleAttribute('hidden', !hit?.explain);
    if (!this.#answer || !hit?.explain) return;
    const { degraded = [] } = this.#search ?? {};
    const parts = { answer: this.#answer, hit, strings: this.#strings, language: this.#language, degraded };
    why?.replaceChildren(...drawWhy(parts));
  }

  /** Keeps the query in the address of the page, where that is wanted, so that it can be reloaded and sent to others. */
  #link(query: string): void {
    if (this.#parameter === '') return;
    const address = new URL(location.href);
    if (query === '') address.searchParams.delete(this.#parameter);
    else address.searchParams.set(this.#parameter, query);
    if (address.href !== location.href) history.replaceState(history.state, '', address);
  }
}

/** Whether an answer is the one before again, with more to tell: then the same option stays active. */
function isSame(before: SiteAnswer | undefined, answer: SiteAnswer | undefined): boolean {
  const keyOf = (one: SiteAnswer | undefined): string => JSON.stringify([one?.query, one?.hits.map(({ id }) => id)]);
  return keyOf(before) === keyOf(answer);
}

function isMode(text: string): text is Mode {
  return MODES.includes(text);
}

/** Whether Intl takes it. */
function isLanguage(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length > 0;
  } catch {
    return false;
  }
}
