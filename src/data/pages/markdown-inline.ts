/**
 * A line or paragraph of Markdown to plain text: links to their text, images to their description, marks of emphasis
 * dropped, code kept as it is. For text to be searched, not for rendering; linear in its input whatever comes.
 */
import { htmlText } from './html.ts';

/** Plain text of a paragraph; `images: 'drop'` leaves out what images show. */
export function inlineText(markdown: string, { images = 'describe' }: InlineOptions = {}): string {
  const html = new InlineScanner(markdown, images === 'drop').scan();
  return /[<&]/.test(html) ? htmlText(html) : html.replace(/[^\S\n]+/g, ' ').trim();
}

/** How to read a paragraph. */
type InlineOptions = { readonly images?: 'describe' | 'drop' };

/** CommonMark's limit for parentheses in the address of a link. */
const MAX_PARENTHESES = 32;

/** Characters that may mean something; all others are copied in stretches. */
const SPECIAL = /[\\`[\]!*_~<{\n]/g;

const isWord = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}]/u.test(char);
const isSpace = (char: string | undefined): boolean => char === undefined || /\s/.test(char);

/** Turns Markdown into HTML that has the same text: code and escapes quoted for HTML, its own tags as they were. */
class InlineScanner {
  readonly #source: string;
  readonly #dropsImages: boolean;
  readonly #out: string[] = [];
  /** Where in the output the brackets stand that are open. */
  readonly #brackets: number[] = [];
  /** Runs of backticks by length, each list from the last to the first. */
  #fences: Map<number, number[]> | undefined;
  #at = 0;

  constructor(source: string, dropsImages: boolean) {
    this.#source = source;
    this.#dropsImages = dropsImages;
  }

  scan(): string {
    const source = this.#source;
    while (this.#at < source.length) {
      SPECIAL.lastIndex = this.#at;
      const next = SPECIAL.exec(source)?.index ?? source.length;
      if (next > this.#at) this.#out.push(source.slice(this.#at, next));
      this.#at = next;
      if (next < source.length) this.#special(source[next]);
    }
    return this.#out.join('');
  }

  #special(char: string): void {
    if (char === '\\') this.#escape();
    else if (char === '`') this.#code();
    else if (char === '[' || (char === '!' && this.#source[this.#at + 1] === '[')) this.#openBracket(char);
    else if (char === ']') this.#closeBracket();
    else if (char === '<') this.#angle();
    else if (char === '{') this.#braces();
    else if (char === '\n') this.#newline();
    else this.#emphasis(char);
  }

  #copy(length: number): void {
    this.#out.push(this.#source.slice(this.#at, this.#at + length));
    this.#at += length;
  }

  #escape(): void {
    const next = this.#source[this.#at + 1];
    const escaped = next === '\n' ? '<br>' : /[!-/:-@[-`{-~]/.test(next ?? '') ? quoteHtml(next) : undefined;
    if (escaped === undefined) this.#copy(1);
    else {
      this.#out.push(escaped);
      this.#at += 2;
    }
  }

  /** A run of backticks up to the next run of the same length. */
  #code(): void {
    const start = this.#at;
    const length = runLength(this.#source, start);
    this.#fences ??= backtickRuns(this.#source);
    const runs = this.#fences.get(length) ?? [];
    while ((runs.at(-1) ?? Number.POSITIVE_INFINITY) < start + length) runs.pop();
    const end = runs.at(-1);
    if (end === undefined) {
      this.#copy(length);
      return;
    }
    this.#out.push(
      quoteHtml(
        this.#source
          .slice(start + length, end)
          .replace(/\s+/g, ' ')
          .trim(),
      ),
    );
    this.#at = end + length;
  }

  #openBracket(char: string): void {
    this.#brackets.push(this.#out.length);
    this.#copy(char === '!' ? 2 : 1);
  }

  /** Drops brackets and address of a link or image, keeps other brackets. */
  #closeBracket(): void {
    const opened = this.#brackets.pop();
    const end = opened === undefined ? undefined : this.#endOfLink(this.#at + 1);
    if (opened !== undefined && end !== undefined) {
      if (this.#dropsImages && this.#out[opened] === '![') this.#out.length = opened;
      else this.#out[opened] = '';
      this.#at = end;
    } else if (opened !== undefined && this.#source[this.#at - 1] !== '[' && /^\[\^/.test(this.#tail(opened))) {
      this.#out.length = opened; // a mark of a footnote
      this.#at++;
    } else this.#copy(1);
  }

  /** The first characters of the output from `opened` on. */
  #tail(opened: number): string {
    return `${this.#out[opened]}${this.#out[opened + 1] ?? ''}`.slice(0, 2);
  }

  /** Where a link ends whose text ended before `start`: after (address), or after [reference]. */
  #endOfLink(start: number): number | undefined {
    const char = this.#source[start];
    if (char === '[') {
      const match = /\[[^[\]\n]{0,200}\]/y;
      match.lastIndex = start;
      return match.exec(this.#source) ? match.lastIndex : undefined;
    }
    return char === '(' ? this.#endOfAddress(start) : undefined;
  }

  #endOfAddress(start: number): number | undefined {
    let depth = 0;
    for (let at = start; at < this.#source.length; at++) {
      const char = this.#source[at];
      if (char === '\\') at++;
      else if (char === '(' && ++depth > MAX_PARENTHESES) return undefined;
      else if (char === ')' && --depth === 0) return at + 1;
    }
    return undefined;
  }

  /** <https://…> is text, tags are left to the HTML parser, anything else is no tag. */
  #angle(): void {
    const link = /<((?:https?:\/\/|mailto:)[^<>\s]{1,2000}|[\w.+-]{1,100}@[\w.-]{1,100})>/y;
    link.lastIndex = this.#at;
    const match = link.exec(this.#source);
    if (match) {
      this.#out.push(quoteHtml(match[1]));
      this.#at += match[0].length;
    } else if (/[a-z/!?]/i.test(this.#source[this.#at + 1] ?? '')) this.#tag();
    else {
      this.#out.push('&lt;');
      this.#at++;
    }
  }

  /** A tag as it is, so that nothing inside is taken for Markdown. */
  #tag(): void {
    const isComment = this.#source.startsWith('<!--', this.#at);
    const close = isComment ? '-->' : '>';
    const end = this.#source.indexOf(close, this.#at);
    if (end >= 0) this.#copy(end + close.length - this.#at);
    else {
      // An unclosed one would swallow the rest of the paragraph: it is text.
      this.#out.push(quoteHtml(this.#source.slice(this.#at)));
      this.#at = this.#source.length;
    }
  }

  /** Tags of site generators: {% … %}, {{< … >}}, {: .class}, {#id}. */
  #braces(): void {
    const tag = /\{(?:%[^%\n]{0,500}%\}|\{[<%][^>%{\n]{0,500}[>%]\}\}|[:#][^}\n]{0,200}\})/y;
    tag.lastIndex = this.#at;
    const match = tag.exec(this.#source);
    if (match) this.#at += match[0].length;
    else this.#copy(1);
  }

  /** Two spaces before the end of a line are a line break. */
  #newline(): void {
    this.#out.push(this.#source.endsWith('  ', this.#at) ? '<br>' : ' ');
    this.#at++;
  }

  /** Marks are dropped where they can open or close: not between spaces, and _ not inside of words. */
  #emphasis(char: string): void {
    const length = runLength(this.#source, this.#at);
    const before = this.#source[this.#at - 1];
    const after = this.#source[this.#at + length];
    const stands =
      (isSpace(before) && isSpace(after)) ||
      (char === '_' && isWord(before) && isWord(after)) ||
      char === '!' ||
      (char === '~' && length !== 2);
    if (stands) this.#copy(length);
    else this.#at += length;
  }
}

function runLength(text: string, at: number): number {
  let end = at + 1;
  while (text[end] === text[at]) end++;
  return end - at;
}

function backtickRuns(text: string): Map<number, number[]> {
  const runs = new Map<number, number[]>();
  for (const match of text.matchAll(/`+/g)) {
    const list = runs.get(match[0].length);
    if (list) list.push(match.index);
    else runs.set(match[0].length, [match.index]);
  }
  for (const list of runs.values()) list.reverse();
  return runs;
}

const QUOTES: Readonly<Record<string, string>> = { '<': '&lt;', '&': '&amp;' };

function quoteHtml(text: string): string {
  return text.replace(/[<&]/g, (char) => QUOTES[char]);
}
