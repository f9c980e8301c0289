/** What an option names between separators, such as --sets scifact,cisi. */

/** Those of all that a list names, in the order of all. A name that nobody has is an error that lists the known ones. */
export function chosenByName<T extends { readonly name: string }>(
  all: readonly T[],
  list: string,
  { option, separator = ',' }: { readonly option: string; readonly separator?: string },
): T[] {
  const names = list.split(separator).map((name) => name.trim());
  const known = all.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return all.filter(({ name }) => names.includes(name));
  const shown = unknown.map((name) => JSON.stringify(name)).join(', ');
  throw new Error(`${option}: nothing is called ${shown}; known are ${known.join(`${separator} `)}`);
}
