/** Text and data inside of pages that we write. */

/** Text that means itself in HTML, inside of quotes too. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** JSON that can stand in a script element: without `<` it can neither end it nor open a comment. */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
