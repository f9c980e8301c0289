/** What each index holds and takes. */
import type { JSX } from 'preact';
import type { IndexFigures } from './api.ts';

/** Bytes in few characters. */
export function bytes(size: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, size)) / 10));
  const value = size / 2 ** (10 * power);
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`;
}

const count = (value: number): string => value.toLocaleString('en');

/** A table, one row an index. */
export function Statistics({ indexes }: { indexes: readonly IndexFigures[] }): JSX.Element {
  return (
    <>
      <h2>Indexes</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolls sideways by keys on small screens */}
      <section class="scroll" tabIndex={0} aria-label="Indexes">
        <table>
          <thead>
            <tr>
              {[
                'name',
                'kind',
                'documents',
                'deleted',
                'terms a document',
                'size',
                'segments',
                'commit',
                'model',
                'fields',
              ].map((name) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {indexes.map((figures) => (
              <Row key={figures.name} figures={figures} />
            ))}
          </tbody>
        </table>
      </section>
      {indexes.length === 1 && (
        <p>
          To compare, serve a second index beside this one: <code>lzero index INPUT -o words.index --bm25</code> makes
          one of BM25, <code>lzero serve {indexes[0].name}.index words.index</code> serves both, and their hybrid.
        </p>
      )}
    </>
  );
}

function Row({ figures }: { figures: IndexFigures }): JSX.Element {
  const { name, kind, numDocs, numDeleted, docLen, sizeBytes, numSegments, generation, model, fields } = figures;
  const declared = Object.entries(fields).map(([field, type]) => `${field}: ${type}`);
  return (
    <tr>
      <th scope="row">
        {name}
        {figures.isWritable && <small> writable</small>}
      </th>
      <td>{kind === 'bm25' ? 'BM25' : 'learned'}</td>
      <td>{count(numDocs)}</td>
      <td>{count(numDeleted)}</td>
      <td>{docLen === null ? '–' : docLen.toFixed(1)}</td>
      <td>{bytes(sizeBytes.total)}</td>
      <td>{count(numSegments)}</td>
      <td>{count(generation)}</td>
      <td>{model ?? '–'}</td>
      <td>{declared.join(', ') || '–'}</td>
    </tr>
  );
}
