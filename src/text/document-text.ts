/** What of a document is encoded, and analysed for BM25: the one rule for both. Knows nothing of where documents are from. */

/** The text of a document: (title + " " + text), trimmed. */
export function documentText({
  title = '',
  text = '',
}: {
  readonly title?: string | undefined;
  readonly text?: string | undefined;
}): string {
  return `${title} ${text}`.trim();
}
