/**
 * The looks of a figure's page: light or dark as the reader has it, readable on paper and on a phone. Colours of the drawing
 * are variables here, so that it follows without being drawn again; web/figures/looks.ts has those of SVG files.
 *
 * Series: the eight colours of Okabe and Ito, which people tell apart whatever colours they see, darker on white paper (and
 * their yellow a brown) so that each has a contrast of 3 or more against the paper, which graphics need (WCAG 1.4.11).
 */

/** Colours of series on white paper, in order. */
export const LIGHT_COLOURS = ['#0072b2', '#d55e00', '#008f68', '#b5568a', '#b07800', '#2589c4', '#4d4d4d', '#7a5c00'];
/** The same on dark paper. */
const DARK_COLOURS = ['#4aa8e0', '#f0803c', '#2bbf92', '#dd92bb', '#e69f00', '#7cc8f2', '#c9c9c9', '#f0e442'];

const variables = (colours: readonly string[]): string =>
  colours.map((colour, i) => `--series-${i}: ${colour};`).join(' ');

/** The page's style sheet. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --line: #d0d7de; --text: #1f2328; --quiet: #57606a; --page: #ffffff; ${variables(LIGHT_COLOURS)} }
@media (prefers-color-scheme: dark) {
  :root { --line: #3d444d; --text: #e6edf3; --quiet: #9da7b1; --page: #0d1117; ${variables(DARK_COLOURS)} }
}
@media print { :root { --line: #d0d7de; --text: #1f2328; --quiet: #57606a; --page: #ffffff; ${variables(LIGHT_COLOURS)} } }
html { scrollbar-gutter: stable; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { margin: 0; font-size: 1.3rem; line-height: 1.3; overflow-wrap: anywhere; }
p { margin: 0.5rem 0; overflow-wrap: anywhere; }
.note { color: var(--quiet); font-size: 0.9rem; }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); }
fieldset { display: flex; flex-wrap: wrap; gap: 0.15rem 1.25rem; margin: 0.75rem 0; padding: 0; border: 0; }
fieldset[hidden] { display: none; }
fieldset legend { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); }
fieldset label, fieldset span { display: inline-flex; align-items: center; gap: 0.4rem; min-width: 0; min-height: 1.75rem; overflow-wrap: anywhere; }
fieldset label { cursor: pointer; }
fieldset svg { flex: none; }
input { width: 1rem; height: 1rem; margin: 0; accent-color: var(--quiet); }
#plot { border-radius: 4px; }
#plot svg { --plot-background: var(--page); display: block; max-width: 100%; height: auto; }
svg text, svg tspan { white-space: pre; }
:focus-visible { outline: 2px solid var(--quiet); outline-offset: 2px; }
a { color: inherit; }
summary { cursor: pointer; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.75rem 0.2rem 0; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
thead th { color: var(--quiet); font-weight: 500; }
tbody th { font-weight: 500; }
`;
