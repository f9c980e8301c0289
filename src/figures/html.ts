/**
 * A figure as one HTML file that needs nothing else: the SVG, which the script replaces by a plot with tooltips and a legend
 * that hides series; the numbers as a table; the CSV as a link.
 *
 * Names and labels come from anywhere, and the page is opened from disk: every text is escaped, the drawing goes in as JSON
 * that cannot end its element, and a policy lets no other script and no other style run, and nothing be fetched.
 */
import { escapeHtml, scriptJson } from '../core/index.ts';
import { pageHead } from '../files/index.ts';
import { type Drawing, withSpread } from './drawing.ts';
import type { Figure } from './figure.ts';
import { PAGE_STYLE } from './html-style.ts';

/** What stands in a page, made by others. */
export type PageParts = {
  readonly drawing: Drawing;
  readonly csv: string;
  /** What shows the figure to readers without scripts. */
  readonly svg: string;
  readonly script: string;
};

/** The page. */
export function renderPage(figure: Figure, { drawing, csv, svg, script }: PageParts): string {
  const title = escapeHtml(figure.title);
  const safeScript = script.replaceAll('</script', '<\\/script'); // in strings of the bundle, where \/ is /
  const head = pageHead({ title: figure.title, style: PAGE_STYLE, script: safeScript });
  return `${head}
<body>
<main>
<h1>${title}</h1>
<p>${escapeHtml(figure.caption)}</p>
<fieldset id="legend" hidden><legend>Shown</legend></fieldset>
<div id="plot">
${svg}
</div>
<p id="spoken" class="unseen" aria-live="polite"></p>
<p id="keys" class="note" hidden>Point at a mark, or go through them with the arrow keys.</p>
${table(figure)}
<p><a download="${figure.id}.csv" href="data:text/csv;charset=utf-8,${encodeURIComponent(wellFormed(csv))}">Numbers as CSV</a></p>
</main>
<script type="application/json" id="drawing">${scriptJson(drawing)}</script>
<script>${safeScript}</script>
</body>
</html>
`;
}

function table({ x, y, series }: Figure): string {
  const headers = ['series', 'point', x.label, y.label, ''];
  const rows = series.flatMap(({ name, kind, points }) =>
    points.map((point) => {
      const numbers = [withSpread(point, 'x'), withSpread(point, 'y')];
      const notes = [kind === 'published' ? 'published' : '', point.isCollapsed ? 'collapsed' : ''];
      const cells = [point.label, ...numbers, notes.filter((note) => note !== '').join(', ')];
      return `<tr><th scope="row">${escapeHtml(name)}</th>${cells.map((text) => `<td>${escapeHtml(text)}</td>`).join('')}</tr>`;
    }),
  );
  return `<details>
<summary>Numbers</summary>
<div class="scroll" tabindex="0" role="region" aria-label="Numbers">
<table>
<thead><tr>${headers.map((text) => (text === '' ? '<td></td>' : `<th scope="col">${escapeHtml(text)}</th>`)).join('')}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
</div>
</details>`;
}

/** Halves of characters, which no file can hold, as what a file has in their place. */
function wellFormed(text: string): string {
  return text.replace(/\p{Cs}/gu, '\ufffd');
}
