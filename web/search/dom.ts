/** Elements without markup: whatever pages, titles and queries hold becomes text or the value of an attribute. */

/** Attributes by name; true is the empty value, false and undefined leave the attribute away. */
export type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** An element with attributes and children. Names come from code, never from what was found. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  element.append(...children);
  return element;
}

/** The address of a result; undefined for schemes that would run or show what is not a page of the web. */
export function pageAddress(url: string, base: string): string | undefined {
  if (!URL.canParse(url, base)) return undefined;
  const address = new URL(url, base);
  return /^https?:$/.test(address.protocol) ? address.href : undefined;
}
