/** A report as Markdown, for an issue or a paper's appendix. */
import type { EvalReport } from './report.ts';
import { averageTable, collectionTable, legend, type Table } from './table.ts';

/** The report as Markdown: tables, what the marks mean, and how it came about. */
export function renderMarkdown(report: EvalReport): string {
  const tables = report.collections.map((collection) => collectionTable(collection, report));
  if (report.collections.length > 1) tables.unshift(averageTable(report));
  const { command, versions, configuration } = report.provenance;
  const settings = Object.entries({ ...versions, ...configuration }).map(
    ([name, value]) => `- ${escaped(name)}: ${escaped(String(value))}`,
  );
  return `${[
    `# ${escaped(report.title)}`,
    ...tables.map(markdownTable),
    ...legend(report).map(escaped),
    codeBlock(command),
    settings.join('\n'),
  ]
    .filter((part) => part !== '')
    .join('\n\n')}\n`;
}

function markdownTable({ caption, headers, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    `## ${escaped(caption)}`,
    '',
    line(headers.map(escaped)),
    line(headers.map((_, c) => (c === 0 ? '---' : '---:'))),
    ...rows.map((row) => line(row.map(({ text, isBest }) => (isBest ? `**${escaped(text)}**` : escaped(text))))),
  ].join('\n');
}

/** Text that means itself in Markdown, in a cell too. */
function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]<>()#|!~]/g, (sign) => `\\${sign}`).replace(/\s+/g, ' ');
}

/** A fence longer than any in the text. */
function codeBlock(text: string): string {
  if (text === '') return '';
  const fence = '`'.repeat(1 + Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length)));
  return `${fence}sh\n${text}\n${fence}`;
}
