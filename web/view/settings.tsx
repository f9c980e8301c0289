/** Configurations: of one run all of it, of several what differs. */
import type { JSX } from 'preact';
import type { Run } from './run.ts';

/** The panel. */
export function Settings({ runs }: { runs: readonly Run[] }): JSX.Element | null {
  const begun = runs.filter(({ details }) => details?.config);
  if (begun.length === 0) return null;
  const flat = begun.map((run) => new Map(settingsOf(run.details?.config ?? {})));
  const names = [...new Set(flat.flatMap((settings) => [...settings.keys()]))];
  const isDifferent = (name: string): boolean => new Set(flat.map((settings) => settings.get(name))).size > 1;
  const shown = begun.length === 1 ? names : names.filter(isDifferent);
  return (
    <details class="panel full">
      <summary>{begun.length === 1 ? 'Configuration' : `Settings in which the runs differ (${shown.length})`}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolls sideways by keys on small screens */}
      <section class="scroll" tabIndex={0} aria-label="Settings">
        <table>
          <thead>
            <tr>
              <th scope="col">setting</th>
              {begun.map(({ id, name }) => (
                <th scope="col" key={id}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((name) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {flat.map((settings, i) => (
                  <td key={begun[i].id}>{settings.get(name) ?? '–'}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
}

/** Settings by their paths. */
function settingsOf(value: unknown, path = ''): [string, string][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[path, JSON.stringify(value)]];
  return Object.entries(value).flatMap(([key, part]) => settingsOf(part, path === '' ? key : `${path}.${key}`));
}
