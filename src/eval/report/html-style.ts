/** The looks of the HTML report: light or dark as the reader has it, readable on paper and on a phone. */

/** The page's style sheet. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --line: #d0d7de; --soft: #f6f8fa; --text: #1f2328; --quiet: #57606a; --good: #1a7f37; --bad: #cf222e; --page: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --line: #3d444d; --soft: #161b22; --text: #e6edf3; --quiet: #9198a1; --good: #3fb950; --bad: #f85149; --page: #0d1117; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1rem; }
.scroll { overflow-x: auto; margin: 1.5rem 0; }
table { border-collapse: collapse; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.25rem; }
.results th, .results td { border-bottom: 1px solid var(--line); padding: 0.25rem 0.5rem; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.results th:first-child { text-align: left; }
.results th { font-weight: 500; }
th button { all: unset; cursor: pointer; font-weight: 600; }
th button:focus-visible, summary:focus-visible, .scroll:focus-visible { outline: 2px solid var(--quiet); outline-offset: 2px; }
th button::after { content: " ↕"; color: var(--quiet); }
th[aria-sort="ascending"] button::after { content: " ↑"; color: inherit; }
th[aria-sort="descending"] button::after { content: " ↓"; color: inherit; }
.note, #count { color: var(--quiet); margin: 0.25rem 0; }
form { display: flex; flex-wrap: wrap; gap: 0.75rem; margin: 0.75rem 0; }
label { display: grid; font-size: 0.85rem; color: var(--quiet); }
select, input { font: inherit; color: var(--text); background: var(--page); border: 1px solid var(--line); border-radius: 4px; padding: 0.25rem; max-width: 18rem; }
#list { list-style: none; padding: 0; }
#list > li { border-bottom: 1px solid var(--line); }
summary { cursor: pointer; padding: 0.4rem 0; }
.change { display: inline-block; min-width: 5.5rem; font-variant-numeric: tabular-nums; }
.gain { color: var(--good); } .loss { color: var(--bad); }
.id { color: var(--quiet); font-size: 0.85rem; overflow-wrap: anywhere; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); gap: 1rem; padding: 0.5rem 0 1rem; }
.sides h3, .sides h4 { margin: 0.25rem 0; overflow-wrap: anywhere; }
.sides h3, .sides h4 { font-size: 1rem; }
.hits { margin: 0; padding-left: 1.5rem; }
.hits > li { margin-bottom: 0.75rem; padding-left: 0.5rem; border-left: 3px solid transparent; overflow-wrap: anywhere; }
.hits > li.relevant { border-left-color: var(--good); }
.hits p { margin: 0.15rem 0; font-size: 0.9rem; }
.mark { font-size: 0.8rem; color: var(--quiet); }
.relevant .mark { color: var(--good); font-weight: 600; }
.terms { font-size: 0.8rem; font-variant-numeric: tabular-nums; }
.terms th, .terms td { padding: 0 0.5rem 0 0; text-align: right; font-weight: 400; }
.terms th:first-child, .terms td:first-child { text-align: left; }
.terms th { color: var(--quiet); }
pre { overflow-x: auto; background: var(--soft); padding: 0.75rem; border-radius: 4px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; font-size: 0.9rem; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
@media print { form, th button::after { display: none; } }
`;
