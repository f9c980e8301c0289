/** A strict reader of XML, as far as our SVG files use it: no comments, no sections, no document type. */

const NAME = '[A-Za-z_][\\w.:-]*';
const TOKEN = new RegExp(`<(/?)(${NAME})((?:\\s+${NAME}="[^"<]*")*)\\s*(/?)>|([^<]+)`, 'y');

/** An element: its attributes, and its text with that of all inside. */
export type XmlElement = {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: XmlElement[];
  text: string;
};

/** The root of a document; throws where it is not well-formed. */
export function parseXml(document: string): XmlElement {
  const xml = document.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, '').trim();
  const top: XmlElement = { name: '', attributes: new Map(), children: [], text: '' };
  const open = [top];
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < xml.length; ) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(xml);
    if (!match) throw new Error(`no XML at ${at}: ${xml.slice(at, at + 60)}`);
    const [, end, name, attributes, isEmpty, text] = match;
    if (text !== undefined) for (const element of open) element.text += decoded(text);
    else if (end) {
      if (open.pop()?.name !== name) throw new Error(`</${name}> closes another element at ${at}`);
    } else {
      const element: XmlElement = { name, attributes: attributesOf(attributes), children: [], text: '' };
      open[open.length - 1].children.push(element);
      if (!isEmpty) open.push(element);
    }
  }
  if (open.length !== 1 || top.children.length !== 1) throw new Error('a document is one element, with an end');
  return top.children[0];
}

/** An element and all inside it. */
export function allElements(root: XmlElement): XmlElement[] {
  return [root, ...root.children.flatMap(allElements)];
}

function attributesOf(text: string): Map<string, string> {
  const pairs = Array.from(text.matchAll(/([^\s=]+)="([^"]*)"/g), ([, key, value]) => [key, decoded(value)] as const);
  if (new Set(pairs.map(([key]) => key)).size !== pairs.length) throw new Error(`an attribute twice: ${text}`);
  return new Map(pairs);
}

function decoded(text: string): string {
  if (/&(?!#\d+;)/.test(text)) throw new Error(`a bare &: ${text}`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML may not hold them
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text)) throw new Error('a control character');
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}
