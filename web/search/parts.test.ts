/** The parts of the search box that compute. test/browser has the box itself, in a browser. */
import { describe, expect, it } from 'vitest';
import type { SiteHit } from '../../src/browser/types.ts';
import { pageAddress } from './dom.ts';
import { hotkeysOf, NO_OPTION, optionAfter, shortcutLabel, shortcutNames } from './keys.ts';
import { panelPlace } from './place.ts';
import { counted, filled, LANGUAGES, stringsFor } from './strings.ts';
import { isShown, tokenLabel } from './why.ts';

describe('the search box', () => {
  it('goes through options by arrows, by way of the text, and leaves Home and End to the text until one is active', () => {
    const walk = (key: string): (number | undefined)[] => {
      const steps: (number | undefined)[] = [NO_OPTION];
      for (let i = 0; i < 4; i++) steps.push(optionAfter(key, steps[i] ?? NO_OPTION, 3));
      return steps;
    };
    expect(walk('ArrowDown')).toEqual([NO_OPTION, 0, 1, 2, NO_OPTION]);
    expect(walk('ArrowUp')).toEqual([NO_OPTION, 2, 1, 0, NO_OPTION]);
    expect(optionAfter('Home', NO_OPTION, 3)).toBeUndefined();
    expect(optionAfter('End', NO_OPTION, 3)).toBeUndefined();
    expect(optionAfter('Home', 2, 3)).toBe(0);
    expect(optionAfter('End', 0, 3)).toBe(2);
    expect(optionAfter('a', 1, 3)).toBeUndefined();
    expect(optionAfter('ArrowDown', NO_OPTION, 0)).toBe(NO_OPTION);
  });

  it('reads hotkeys, and names them for people and screen readers', () => {
    const hotkeys = hotkeysOf('  / Ctrl+K ');
    expect(hotkeys).toEqual([
      { key: '/', withControl: false },
      { key: 'k', withControl: true },
    ]);
    expect(shortcutNames(hotkeys)).toBe('/ Control+K');
    expect(shortcutNames([])).toBeUndefined();
    expect(hotkeys.map((hotkey) => shortcutLabel(hotkey, false))).toEqual(['/', 'Ctrl K']);
    expect(shortcutLabel(hotkeys[1], true)).toBe('⌘ K');
  });

  it('hangs results below the box, inside of the window', () => {
    const window = { width: 1000, height: 700 };
    const at = (left: number, isRightToLeft = false, panelWidth = 400) =>
      panelPlace({ box: { left, right: left + 200, bottom: 50 }, panelWidth, window, isRightToLeft });
    expect(at(100)).toEqual({ left: 0, maxHeight: 634 });
    expect(at(780).left).toBe(592 - 780); // it would have left the window by 188 px, with the margin
    expect(at(500, true).left).toBe(-200); // both end at 700
    expect(at(100, true).left).toBe(8 - 100);
    expect(
      panelPlace({ box: { left: 0, right: 9, bottom: 650 }, panelWidth: 9, window, isRightToLeft: false }).maxHeight,
    ).toBe(240);
  });

  it('makes links only of pages of the web', () => {
    const base = 'https://site.example/docs/a.html';
    expect(pageAddress('b.html#c', base)).toBe('https://site.example/docs/b.html#c');
    expect(pageAddress('/b', base)).toBe('https://site.example/b');
    expect(pageAddress('http://other.example/', base)).toBe('http://other.example/');
    for (const url of [
      'javascript:alert(1)',
      ' JaVaScript:alert(1)',
      'java\nscript:alert(1)',
      'data:text/html,x',
      'http://[',
    ])
      expect(pageAddress(url, base)).toBeUndefined();
  });

  it('speaks every language whole, with the places that English has', () => {
    const places = (text: string): string[] => text.match(/\{\w+\}/g) ?? [];
    const english = stringsFor('en');
    for (const [language, strings] of Object.entries(LANGUAGES)) {
      expect(Object.keys(strings).sort(), language).toEqual(Object.keys(english).sort());
      for (const name of ['none', 'missing'] as const) expect(places(strings[name])).toEqual(places(english[name]));
      for (const rule of new Intl.PluralRules(language).resolvedOptions().pluralCategories)
        if (rule !== 'many' || language === 'ar') expect(strings.count[rule], `${language} ${rule}`).toBeDefined(); // "many" of es and fr begins at a million
      expect(new Set(Object.values(strings).map(String)).size, language).toBe(Object.keys(strings).length);
    }
  });

  it('counts as the language does', () => {
    expect([0, 1, 7].map((n) => counted(stringsFor('en-GB').count, n, 'en-GB'))).toEqual([
      '0 results',
      '1 result',
      '7 results',
    ]);
    expect(counted(stringsFor('fr').count, 0, 'fr')).toBe('0 résultat');
    expect([1, 2, 3, 11].map((n) => counted(stringsFor('ar').count, n, 'ar-u-nu-latn'))).toEqual([
      'نتيجة واحدة',
      'نتيجتان',
      '3 نتائج',
      '11 نتيجة',
    ]);
    expect(counted(stringsFor('de').count, 1234, 'de')).toBe('1.234 Ergebnisse');
  });

  it('takes words of the page, and English for languages that it does not know', () => {
    expect(stringsFor('de-AT', { placeholder: 'Stöbern' })).toMatchObject({ placeholder: 'Stöbern', clear: 'Leeren' });
    expect(stringsFor('tlh').clear).toBe('Clear');
    expect(filled('a {x} {y}', { x: '{y} $&' })).toBe('a {y} $& {y}'); // what is filled in is not read again
  });

  it('tells tokens of the passage from those of the meaning', () => {
    const snippet = {
      text: 'Sticky headers stay',
      marks: [
        [0, 6],
        [7, 14],
      ] as const,
    };
    const hit: SiteHit = { rank: 1, id: 'a', url: '/a', title: 'A', score: 1, labels: {}, snippet, sections: [] };
    expect(['sticky', '##ers', 'stay', 'scroll'].filter((token) => isShown(token, hit))).toEqual(['sticky', '##ers']);
    expect(isShown('scroll', { ...hit, title: 'Scroll, and stay' })).toBe(true); // the title is shown, too
    expect(tokenLabel('##ers')).toBe('…ers');
  });
});
