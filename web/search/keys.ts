/** Which option a key leads to, and which keys open the box: the combobox pattern of the ARIA Authoring Practices. */

/** No option is active: the caret is in the text. */
export const NO_OPTION = -1;

/**
 * The option that is active after a key; undefined where the key is not one that moves. Down from the last option and up
 * from the first lead back to the text, as does the text to either end. Home and End belong to the text as long as no
 * option is active.
 */
export function optionAfter(key: string, active: number, numOptions: number): number | undefined {
  const stops = numOptions + 1; // the text is one of them
  if (key === 'ArrowDown') return ((active + 2) % stops) - 1;
  if (key === 'ArrowUp') return ((active + 1 + numOptions) % stops) - 1;
  if (active === NO_OPTION) return undefined;
  if (key === 'Home') return 0;
  if (key === 'End') return numOptions - 1;
  return undefined;
}

/** A key that opens the box from anywhere in the page. */
export type Hotkey = {
  readonly key: string;
  /** With Ctrl, or ⌘ on a Mac. */
  readonly withControl: boolean;
};

/** Reads the attribute: keys with a space between, such as `/ ctrl+k`. */
export function hotkeysOf(text: string): Hotkey[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => {
      const key = word.replace(/^ctrl\+/, '');
      return { key, withControl: key !== word };
    });
}

/** Whether a key press is one of the hotkeys. A plain key is not, where it would be typed into something. */
export function isHotkey(hotkeys: readonly Hotkey[], event: KeyboardEvent): boolean {
  const isControlled = event.ctrlKey || event.metaKey;
  if (event.altKey || event.isComposing || (!isControlled && isTyping(event))) return false;
  return hotkeys.some(({ key, withControl }) => key === event.key.toLowerCase() && withControl === isControlled);
}

function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** As `aria-keyshortcuts` has it. */
export function shortcutNames(hotkeys: readonly Hotkey[]): string | undefined {
  return (
    hotkeys.map(({ key, withControl }) => (withControl ? `Control+${key.toUpperCase()}` : key)).join(' ') || undefined
  );
}

/** As people see it on the button: `/` or `Ctrl K`. */
export function shortcutLabel({ key, withControl }: Hotkey, isMac: boolean): string {
  return withControl ? `${isMac ? '⌘' : 'Ctrl'} ${key.toUpperCase()}` : key;
}
