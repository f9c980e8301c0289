/** A small site of our own, for tests of the search box: pages with headings, labels, and one that would like to run something. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What a page would run if it could. */
export const HOSTILE = '<img src=x onerror="document.title=`taken`"><script>document.title="taken"</script>';

type BicyclePage = {
  readonly title: string;
  readonly section: string;
  readonly intro: string;
  /** Texts by heading. */
  readonly parts: Readonly<Record<string, string>>;
};

const PAGES: Readonly<Record<string, BicyclePage>> = {
  'guide/flat-tyre.html': {
    title: 'Repair a flat tyre',
    section: 'guide',
    intro: 'A flat tyre is the most common breakdown, and takes ten minutes to repair at the side of the road.',
    parts: {
      'Find the hole': 'Pump up the tube and listen. A small hole shows bubbles when the tube is held under water.',
      'Patch the tube':
        'Roughen the rubber, spread glue thinly, wait until it is dry, and press the patch on the hole.',
      'Fit the tyre again': 'Push the tyre over the rim with your thumbs. Levers pinch the tube and make new holes.',
    },
  },
  'guide/brakes.html': {
    title: 'Adjust the brakes',
    section: 'guide',
    intro: 'Brakes that squeal or rub are badly aligned. Worn pads have to be replaced in pairs.',
    parts: {
      'Rim brakes': 'Set the pads so that they meet the rim flat, a millimetre away on both sides.',
      'Disc brakes': 'Loosen the caliper, pull the lever, and tighten the bolts again while the lever is held.',
    },
  },
  'guide/chain.html': {
    title: 'Clean and oil the chain',
    section: 'guide',
    intro: 'A dry chain creaks and wears out the sprockets. Wipe it with a rag before you oil it.',
    parts: { 'How much oil': 'One drop on each link is enough. Wipe off what is left after a minute.' },
  },
  'guide/winter.html': {
    title: 'Ride in winter',
    section: 'guide',
    intro: 'Snow and ice ask for wide tyres with little pressure, and for lights in the early dark.',
    parts: {
      'Salt on the road': 'Rinse salt off the chain and the rims with water after every ride, and oil the chain.',
    },
  },
  'reference/pressure.html': {
    title: 'Table of tyre pressures',
    section: 'reference',
    intro: 'The pressure depends on the width of the tyre and on the weight of the rider with luggage.',
    parts: {
      'Narrow tyres': 'A tyre of 25 mm takes six bar.',
      'Wide tyres': 'A tyre of 50 mm takes two and a half bar.',
    },
  },
  'reference/tools.html': {
    title: 'Tools for the road',
    section: 'reference',
    intro: 'Two levers, a pump, patches with glue, and hex keys of four and five millimetres fit into any bag.',
    parts: { 'A spare tube': 'Changing the tube is faster than a patch in rain.' },
  },
  'hostile.html': {
    title: `Markup ${HOSTILE} in titles`,
    section: 'reference',
    intro: `A page about angle brackets: ${HOSTILE} stands in its text.`,
    parts: { [`A heading ${HOSTILE}`]: 'Angle brackets are escaped by whoever writes a page.' },
  },
};

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Writes the pages into a folder. */
export function writeBicyclePages(folder: string): void {
  for (const [path, { title, section, intro, parts }] of Object.entries(PAGES)) {
    const body = Object.entries(parts).map(
      ([heading, text], i) => `<h2 id="part-${i + 1}">${escaped(heading)}</h2>\n<p>${escaped(text)}</p>`,
    );
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(
      join(folder, path),
      `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escaped(title)}</title></head>
<body><main data-lzero-label="section:${section}"><h1>${escaped(title)}</h1>
<p>${escaped(intro)}</p>
${body.join('\n')}
</main></body>
</html>
`,
    );
  }
}
