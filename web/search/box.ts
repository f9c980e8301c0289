/** The parts of a search box, empty: what stands where, and what each is called for screen readers and style sheets. */
import { make } from './dom.ts';
import { type Hotkey, shortcutLabel, shortcutNames } from './keys.ts';
import type { Strings } from './strings.ts';

/** Where results are: over the page below the box, in the page, or with the box in a dialog that a button opens. */
export type Mode = 'popup' | 'page' | 'dialog';

/** How a box is made. */
export type BoxOptions = {
  readonly mode: Mode;
  readonly strings: Strings;
  readonly hotkeys: readonly Hotkey[];
  /** The page of results that Enter leads to; undefined where Enter opens the first result. */
  readonly action: string | undefined;
  /** Name of the parameter of an address that has the query. */
  readonly parameter: string;
};

/** The parts that change. */
export type Box = ReturnType<typeof drawBox>;

/** Draws a box. `root` has all of it. */
export function drawBox({ mode, strings, hotkeys, action, parameter }: BoxOptions) {
  const shortcuts = shortcutNames(hotkeys);
  const input = make('input', {
    part: 'input',
    type: 'text',
    name: parameter,
    role: 'combobox',
    placeholder: strings.placeholder,
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    enterkeyhint: 'search',
    'aria-label': strings.label,
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
    'aria-controls': 'list',
    'aria-keyshortcuts': mode === 'dialog' ? undefined : shortcuts,
  });
  const clear = make(
    'button',
    { part: 'clear', class: 'clear', type: 'button', 'aria-label': strings.clear, hidden: true },
    '✕',
  );
  const close = make(
    'button',
    { part: 'close', class: 'close', type: 'button' },
    make('span', { class: 'unseen' }, strings.close),
    make('span', { 'aria-hidden': 'true' }, 'Esc'),
  );
  const form = make(
    'form',
    { part: 'form', class: 'form', role: 'search', action, 'aria-label': strings.label },
    drawGlass(),
    input,
    clear,
    ...(mode === 'dialog' ? [close] : []),
  );

  const facets = make('div', {
    part: 'facets',
    class: 'facets',
    role: 'group',
    'aria-label': strings.filters,
    hidden: true,
  });
  const notice = make('div', { part: 'notice', class: 'notice', hidden: true });
  const list = make('div', {
    id: 'list',
    part: 'list',
    class: 'list',
    role: 'listbox',
    'aria-label': strings.results,
    hidden: true,
  });
  const why = make('section', {
    id: 'why',
    part: 'why',
    class: 'why',
    'aria-label': strings.why,
    tabindex: '0',
    hidden: true,
  });
  const count = make('span', { part: 'count', class: 'count' });
  const whyButton = make(
    'button',
    { part: 'why-button', class: 'why-button', type: 'button', 'aria-expanded': 'false', 'aria-controls': 'why' },
    strings.why,
  );
  const footer = make('div', { part: 'footer', class: 'footer', hidden: true }, count, whyButton);
  const panel = make('div', { part: 'panel', class: 'panel', hidden: true }, facets, notice, list, why, footer);
  const status = make('div', { class: 'unseen', role: 'status' });
  const body = make('div', { part: 'box', class: `box ${mode}` }, form, panel, status);

  const trigger = make(
    'button',
    { part: 'trigger', class: 'trigger', type: 'button', 'aria-haspopup': 'dialog', 'aria-keyshortcuts': shortcuts },
    drawGlass(),
    make('span', { class: 'grow' }, strings.placeholder),
    ...hotkeys
      .slice(0, 1)
      .map((hotkey) => make('kbd', { part: 'shortcut', 'aria-hidden': 'true' }, shortcutLabel(hotkey, isMac()))),
  );
  const dialog = make('dialog', { part: 'dialog', 'aria-label': strings.label });
  if (mode === 'dialog') dialog.append(body);
  const root = mode === 'dialog' ? [trigger, dialog] : [body];
  return {
    root,
    body,
    form,
    input,
    clear,
    close,
    facets,
    notice,
    list,
    why,
    count,
    whyButton,
    footer,
    panel,
    status,
    trigger,
    dialog,
  };
}

/** A magnifying glass; the style sheet draws it. */
function drawGlass(): HTMLElement {
  return make('span', { part: 'icon', class: 'icon', 'aria-hidden': 'true' });
}

function isMac(): boolean {
  return /^Mac|iPhone|iPad/.test(navigator.platform);
}
