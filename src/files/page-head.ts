/** The head of a page that is one file: its style and its script stand inside, and its policy lets nothing else in. */
import { createHash } from 'node:crypto';
import { escapeHtml } from '../core/index.ts';

/** What a page has of its own. */
export type PageHead = {
  readonly title: string;
  readonly style: string;
  /** As it stands in the page. */
  readonly script: string;
};

/** The page up to the beginning of its body. */
export function pageHead({ title, style, script }: PageHead): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '${hashOf(style)}'; script-src '${hashOf(script)}'; base-uri 'none'; form-action 'none'">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>`;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
