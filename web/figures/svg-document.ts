/**
 * As much of a document as Observable Plot needs to draw SVG outside of a browser: elements with attributes and text, in a
 * tree that can be written as XML. Sizes of text and events it has not; Plot asks for them only in tooltips.
 */

const SVG = 'http://www.w3.org/2000/svg';

/** Attributes with places, of which three digits after the point are a hundredth of what an eye sees. */
const PLACES = new Set(['d', 'x', 'y', 'x1', 'x2', 'y1', 'y2', 'cx', 'cy', 'transform']);

/** An element of SVG. Names are those of the DOM. */
export class SvgElement {
  readonly namespaceURI = SVG;
  readonly ownerDocument: SvgDocument;
  readonly tagName: string;
  readonly childNodes: SvgElement[] = [];
  textContent = '';
  readonly #attributes = new Map<string, string>();

  constructor(ownerDocument: SvgDocument, tagName: string) {
    this.ownerDocument = ownerDocument;
    this.tagName = tagName;
  }

  get children(): readonly SvgElement[] {
    return this.childNodes;
  }

  get firstChild(): SvgElement | null {
    return this.childNodes[0] ?? null;
  }

  setAttribute(name: string, value: unknown): void {
    this.#attributes.set(name, String(value));
  }

  getAttribute(name: string): string | null {
    return this.#attributes.get(name) ?? null;
  }

  hasAttribute(name: string): boolean {
    return this.#attributes.has(name);
  }

  removeAttribute(name: string): void {
    this.#attributes.delete(name);
  }

  appendChild(child: SvgElement): SvgElement {
    return this.insertBefore(child, null);
  }

  insertBefore(child: SvgElement, next: SvgElement | null): SvgElement {
    const at = next ? this.childNodes.indexOf(next) : this.childNodes.length;
    this.childNodes.splice(at, 0, child);
    return child;
  }

  removeChild(child: SvgElement): SvgElement {
    this.childNodes.splice(this.childNodes.indexOf(child), 1);
    return child;
  }

  /** The element as XML, in lines. */
  toXml(isRoot = true): string {
    const attributes = Array.from(this.#attributes, ([name, value]) => ` ${name}="${escapeXml(rounded(name, value))}"`);
    const head = `<${this.tagName}${isRoot ? ` xmlns="${SVG}"` : ''}${attributes.join('')}`;
    if (this.childNodes.length > 0) {
      // Text first: an element has either, but for a <title> within a text or a mark.
      const inside = this.childNodes.map((child) => child.toXml(false)).join('\n');
      return `${head}>${escapeXml(this.textContent)}${this.textContent === '' ? '\n' : ''}${inside}\n</${this.tagName}>`;
    }
    return this.textContent === '' ? `${head}/>` : `${head}>${escapeXml(this.textContent)}</${this.tagName}>`;
  }
}

/** What makes elements of SVG. */
export class SvgDocument {
  /** Where d3 looks for the document and the namespace. */
  readonly documentElement: SvgElement = new SvgElement(this, 'svg');

  createElementNS(namespace: string, name: string): SvgElement {
    if (namespace !== SVG) throw new Error(`bug: <${name}> is no element of SVG`);
    return new SvgElement(this, name);
  }
}

function rounded(name: string, value: string): string {
  return PLACES.has(name)
    ? value.replace(/-?\d+\.\d{4,}(?:e-?\d+)?/g, (number) => String(+Number(number).toFixed(3)))
    : value;
}

/** Text that means itself in XML, inside of quotes too. What no XML may hold, escaped or not, becomes U+FFFD. */
function escapeXml(text: string): string {
  return text
    .replace(/(?![\t\n\r])[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '\ufffd')
    .replace(/[&<>"'\t\n\r]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
