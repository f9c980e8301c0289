/**
 * Texts of files in messages. A file from elsewhere may hold what floods a terminal, or what gives it orders: whoever
 * repeats a text of one passes it through here.
 */

/** Characters of a text that is quoted: names are shorter. */
const MAX_QUOTED = 200;
/** Characters of a sentence about a file. */
const MAX_SENTENCE = 1000;

/** Controls (of both tables: U+009B begins an order too), ends of lines, and what turns the direction of writing. */
const ORDERS = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** A text of a file in quotes, of which at most 200 characters are shown, and without orders to a terminal. */
export function quoted(text: string): string {
  return withoutOrders(JSON.stringify(cut(text, MAX_QUOTED)));
}

/** A sentence that holds texts of a file as they are: cut to 1000 characters, and without orders to a terminal. */
export function printable(sentence: string): string {
  return cut(withoutOrders(sentence.slice(0, MAX_SENTENCE + 1)), MAX_SENTENCE);
}

/** A value of a JSON file in a message: itself, or for lists and objects, which may be deep, only what it is. */
export function shownJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'a list' : 'an object';
}

function cut(text: string, maxCharacters: number): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
}

function withoutOrders(text: string): string {
  return text.replace(ORDERS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
