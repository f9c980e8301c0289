/**
 * A report as one HTML file that needs nothing else: sortable tables, and for each query what two systems found.
 *
 * Titles, queries and texts come from anywhere, and the page is opened from disk: every text is escaped, data goes in as
 * JSON that cannot end its element, the script makes nodes from text only, and a policy lets no other script run.
 */
import { escapeHtml, scriptJson } from '../../core/index.ts';
import { pageHead } from '../../files/index.ts';
import { PAGE_SCRIPT } from './html-script.ts';
import { PAGE_STYLE } from './html-style.ts';
import type { CollectionReport, EvalReport } from './report.ts';
import { averageTable, type Cell, collectionTable, legend, type Table } from './table.ts';

/** The report as a page. Its size is that of the collections' `details`, and little more. */
export function renderHtml(report: EvalReport): string {
  const title = escapeHtml(report.title);
  const tables = report.collections.map((collection) => collectionTable(collection, report));
  if (report.collections.length > 1) tables.unshift(averageTable(report));
  return `${pageHead({ title: report.title, style: PAGE_STYLE, script: PAGE_SCRIPT })}
<body>
<main>
<h1>${title}</h1>
${tables.map(htmlTable).join('\n')}
${legend(report)
  .map((line) => `<p class="note">${escapeHtml(line)}</p>`)
  .join('\n')}
${hasDetails(report) ? QUERIES : ''}
${provenance(report)}
</main>
<script type="application/json" id="data">${scriptJson(pageData(report))}</script>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;
}

function htmlTable({ caption, headers, rows }: Table): string {
  const header = (text: string): string => `<th scope="col"><button type="button">${escapeHtml(text)}</button></th>`;
  const cell = ({ text, value, isBest }: Cell, c: number): string => {
    const content = isBest ? `<strong>${escapeHtml(text)}</strong>` : escapeHtml(text);
    const attributes = `data-value="${escapeHtml(String(value))}"`;
    return c === 0 ? `<th scope="row" ${attributes}>${content}</th>` : `<td ${attributes}>${content}</td>`;
  };
  return `<div class="scroll" tabindex="0" role="region" aria-label="${escapeHtml(caption)}">
<table class="results">
<caption>${escapeHtml(caption)}</caption>
<thead><tr>${headers.map(header).join('')}</tr></thead>
<tbody>
${rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('\n')}
</tbody>
</table>
</div>`;
}

/** Filled in by the script. */
const QUERIES = `<section id="queries" hidden>
<h2>Queries</h2>
<form id="choices">
<label>Collection <select id="collection"></select></label>
<label>Metric <select id="metric"></select></label>
<label>System A <select id="a"></select></label>
<label>System B <select id="b"></select></label>
<label>Order <select id="order">
<option value="gain">B gains most</option>
<option value="loss">B loses most</option>
<option value="size">largest difference</option>
<option value="file">as in the collection</option>
</select></label>
<label>Filter <input id="filter" type="search" placeholder="words or id"></label>
</form>
<p id="count" role="status"></p>
<ol id="list"></ol>
</section>
<noscript><p class="note">Sorting and single queries need JavaScript.</p></noscript>`;

function provenance({ provenance: { command, versions, configuration } }: EvalReport): string {
  const entries = Object.entries({ ...versions, ...configuration }).map(
    ([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(String(value))}</dd>`,
  );
  return `<section>
<h2>How this was made</h2>
<pre><code>${escapeHtml(command)}</code></pre>
<dl>${entries.join('')}</dl>
</section>`;
}

function hasDetails({ collections }: EvalReport): boolean {
  return collections.some(({ details }) => details.length > 0);
}

/** What the script shows: the details, and the values of their queries. */
function pageData({ metrics, collections }: EvalReport): unknown {
  return { metrics, collections: collections.filter(({ details }) => details.length > 0).map(collectionData) };
}

function collectionData({ name, split, rows, details }: CollectionReport): unknown {
  return {
    name: `${name} (${split})`,
    systems: rows.map(({ system }) => system),
    queries: details.map((detail) => ({
      ...detail,
      values: Object.fromEntries(rows.map(({ system, perQuery }) => [system, perQuery.get(detail.id)])),
    })),
  };
}
