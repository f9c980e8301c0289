/** What hangs at a box: results or a notice, whether they are shown, where, and which result is active. */
import type { SiteHit } from '../../src/browser/types.ts';
import type { Box, Mode } from './box.ts';
import { make } from './dom.ts';
import { NO_OPTION } from './keys.ts';
import { panelPlace } from './place.ts';
import { drawHits } from './results.ts';

/** The panel of one box. */
export class Panel {
  readonly #box: Box;
  readonly #mode: Mode;
  #active = NO_OPTION;

  constructor(box: Box, mode: Mode) {
    this.#box = box;
    this.#mode = mode;
  }

  /** Pages and sections, from the top. */
  get options(): HTMLElement[] {
    return Array.from(this.#box.list.querySelectorAll<HTMLElement>('[role=option]'));
  }

  /** Which of them is active, or NO_OPTION. */
  get active(): number {
    return this.#active;
  }

  /** The rank of the page that is active; of the first page where none is. */
  get activeRank(): number {
    return Number(this.options[this.#active]?.dataset.rank ?? 1);
  }

  /** Whether a failure is shown. */
  get isAlarmed(): boolean {
    return this.#box.notice.classList.contains('alarm');
  }

  /** Draws results, none where there are none. */
  draw(hits: readonly SiteHit[], active: number): void {
    const { list, footer } = this.#box;
    list.replaceChildren(...drawHits(hits));
    list.scrollTop = 0;
    list.hidden = hits.length === 0;
    footer.hidden = hits.length === 0;
    this.activate(active);
  }

  /** Lines in place of results, the first of which matters most; none hide it. A button makes them an alarm. */
  notice(lines: readonly string[], button?: HTMLElement): void {
    const { notice } = this.#box;
    const paragraphs = lines.map((line, i) => make('p', { class: i > 0 && 'more' }, line));
    notice.replaceChildren(...paragraphs, ...(button ? [button] : []));
    notice.hidden = lines.length === 0;
    notice.classList.toggle('alarm', button !== undefined);
    if (lines.length > 0) this.expand();
  }

  /** Shows what there is. */
  expand(): void {
    const { input, panel, list, notice } = this.#box;
    if (list.hidden && notice.hidden) return;
    panel.hidden = false;
    input.setAttribute('aria-expanded', String(!list.hidden));
    this.place();
  }

  /** Hides it; in a page and in a dialog it stays as long as something is asked. */
  collapse(): void {
    const { input, panel } = this.#box;
    if (this.#mode !== 'popup' && input.value.trim() !== '') return;
    panel.hidden = true;
    input.setAttribute('aria-expanded', 'false');
    this.activate(NO_OPTION);
  }

  /** Moves the panel into the window. */
  place(): void {
    const { body, panel } = this.#box;
    if (panel.hidden || this.#mode !== 'popup') return;
    const { left, maxHeight } = panelPlace({
      box: body.getBoundingClientRect(),
      panelWidth: panel.offsetWidth,
      window: { width: document.documentElement.clientWidth, height: window.innerHeight },
      isRightToLeft: getComputedStyle(body).direction === 'rtl',
    });
    panel.style.setProperty('--left', `${left}px`);
    panel.style.setProperty('--room', `${maxHeight}px`);
  }

  /** Makes an option the active one, for eyes and for screen readers. */
  activate(active: number): void {
    const { input } = this.#box;
    for (const option of this.#box.list.querySelectorAll('[aria-selected=true]'))
      option.setAttribute('aria-selected', 'false');
    const option = this.options[active];
    this.#active = option ? active : NO_OPTION;
    if (!option) {
      input.removeAttribute('aria-activedescendant');
      return;
    }
    option.setAttribute('aria-selected', 'true');
    option.scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', option.id);
  }
}
