/**
 * What the HTML report does by itself: sorts tables, and lists queries with the hits of two systems. Plain JavaScript of
 * the browser; nodes are made from text only, never from markup.
 */

/** The page's script. */
export const PAGE_SCRIPT = `
'use strict';
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId('data').textContent);

  // Tables: a click on a header sorts by it, a second click turns the order around. Cells without a value stay last.
  const valueOf = (row, column) => {
    const text = row.cells[column].dataset.value;
    return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
  };
  const compare = (a, b) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
  const sortBy = (header) => {
    const column = header.cellIndex;
    const body = header.closest('table').tBodies[0];
    const hasNumbers = [...body.rows].some((row) => typeof valueOf(row, column) === 'number');
    const first = hasNumbers ? 'descending' : 'ascending'; // the best number on top
    const second = first === 'descending' ? 'ascending' : 'descending';
    const order = header.getAttribute('aria-sort') === first ? second : first;
    for (const other of header.parentNode.cells) other.removeAttribute('aria-sort');
    header.setAttribute('aria-sort', order);
    const turn = order === 'descending' ? -1 : 1;
    const rows = [...body.rows].sort((x, y) => {
      const [a, b] = [valueOf(x, column), valueOf(y, column)];
      if (a === '' || b === '') return (a === '') - (b === '');
      return turn * compare(a, b);
    });
    body.append(...rows);
  };
  for (const button of document.querySelectorAll('th button'))
    button.addEventListener('click', () => sortBy(button.closest('th')));

  // Queries.
  if (data.collections.length === 0) return;
  byId('queries').hidden = false;
  const make = (tag, settings, ...children) => {
    const node = Object.assign(document.createElement(tag), settings);
    node.append(...children);
    return node;
  };
  const options = (select, texts, chosen) =>
    select.replaceChildren(
      ...texts.map((text, i) => make('option', { value: String(i), textContent: text, selected: i === chosen })),
    );
  const chosen = (id) => Number(byId(id).value);
  const number = (x, digits) => (typeof x === 'number' ? x.toFixed(digits) : '–');
  const signed = (x) => (x > 0 ? '+' : x < 0 ? '−' : '±') + Math.abs(x).toFixed(4);

  const terms = (explanation) => {
    const cells = (tag, texts) => make('tr', {}, ...texts.map((textContent) => make(tag, { textContent })));
    const head = cells('th', ['term', 'query', 'document', 'product']);
    const rows = explanation.map((line) =>
      cells('td', [line.token, number(line.queryWeight, 3), number(line.docWeight, 3), number(line.product, 3)]),
    );
    return make('table', { className: 'terms' }, head, ...rows);
  };
  const documentNodes = (query, id) => {
    const known = Object.hasOwn(query.documents, id) ? query.documents[id] : {};
    const nodes = [make('p', {}, make('strong', { textContent: known.title || id }))];
    if (known.title) nodes.push(make('p', { className: 'id', textContent: id }));
    if (known.text) nodes.push(make('p', { textContent: known.text }));
    return nodes;
  };
  const judgement = (relevance) =>
    relevance === undefined ? 'not judged' : relevance > 0 ? '✓ relevant (' + relevance + ')' : 'not relevant (' + relevance + ')';
  const hitNode = (query, hit) => {
    const mark = make('p', { className: 'mark', textContent: judgement(hit.relevance) + ', score ' + number(hit.score, 4) });
    const node = make('li', { className: hit.relevance > 0 ? 'relevant' : '' }, ...documentNodes(query, hit.id), mark);
    if (hit.explanation && hit.explanation.length > 0) node.append(terms(hit.explanation));
    return node;
  };
  const side = (query, system, metric) => {
    const value = query.values[system] ? query.values[system][metric] : undefined;
    const hits = query.hits[system] || [];
    const list = make('ol', { className: 'hits' }, ...hits.map((hit) => hitNode(query, hit)));
    return make('section', {}, make('h3', { textContent: system + ': ' + number(value, 4) }), hits.length > 0 ? list : 'no hits');
  };
  const missed = (query, systems) => {
    const found = new Set(systems.flatMap((system) => (query.hits[system] || []).map((hit) => hit.id)));
    const rest = query.relevant.filter(([id]) => !found.has(id));
    if (rest.length === 0) return [];
    const items = rest.map(([id, relevance]) =>
      make('li', { className: 'relevant' }, ...documentNodes(query, id), make('p', { className: 'mark', textContent: judgement(relevance) })),
    );
    return [make('section', {}, make('h4', { textContent: 'Relevant, but not among these hits' }), make('ul', { className: 'hits' }, ...items))];
  };
  const itemNode = ({ query, change }, systems, metric) => {
    const kind = change > 0 ? ' gain' : change < 0 ? ' loss' : '';
    const summary = make(
      'summary', {},
      make('span', { className: 'change' + kind, textContent: signed(change) }), ' ', query.text + ' ',
      make('span', { className: 'id', textContent: query.id }),
    );
    const details = make('details', {}, summary);
    // Filled when it is first opened: most never are.
    details.addEventListener('toggle', () => {
      if (details.childElementCount > 1) return;
      const sides = [...new Set(systems)].map((system) => side(query, system, metric));
      details.append(make('div', { className: 'sides' }, ...sides, ...missed(query, systems)));
    });
    return make('li', {}, details);
  };
  const ORDERS = {
    gain: (x, y) => y.change - x.change,
    loss: (x, y) => x.change - y.change,
    size: (x, y) => Math.abs(y.change) - Math.abs(x.change),
    file: () => 0,
  };
  const show = () => {
    const { systems, queries } = data.collections[chosen('collection')];
    const metric = data.metrics[chosen('metric')];
    const pair = [systems[chosen('a')], systems[chosen('b')]];
    const words = byId('filter').value.toLowerCase().split(/\\s+/);
    const value = (query, system) => (query.values[system] ? query.values[system][metric] : 0);
    const items = queries
      .filter(({ id, text }) => words.every((word) => (id + ' ' + text).toLowerCase().includes(word)))
      .map((query) => ({ query, change: value(query, pair[1]) - value(query, pair[0]) }))
      .sort(ORDERS[byId('order').value]);
    byId('count').textContent = items.length + ' of ' + queries.length + ' queries; the number is ' + metric + ' of B minus A';
    byId('list').replaceChildren(...items.map((item) => itemNode(item, pair, metric)));
  };
  const start = () => {
    const { systems } = data.collections[chosen('collection')];
    options(byId('a'), systems, 0);
    options(byId('b'), systems, systems.length > 1 ? 1 : 0);
    show();
  };
  options(byId('collection'), data.collections.map(({ name }) => name), 0);
  options(byId('metric'), data.metrics, 0);
  byId('collection').addEventListener('change', start);
  for (const id of ['metric', 'a', 'b', 'order']) byId(id).addEventListener('change', show);
  byId('filter').addEventListener('input', show);
  byId('choices').addEventListener('submit', (event) => event.preventDefault());
  start();
})();
`;
