/**
 * Completes package-lock.json with the packages for other platforms. A registry that does not carry them all makes npm
 * write a lock without them, which `npm ci` then refuses ("Missing: … from lock file"). Entries are made from the names
 * and versions that the dependants ask for; they have no integrity hash.
 *
 *     npx tsx scripts/complete-lock.ts        after every change of dependencies
 */
import { readFileSync, writeFileSync } from 'node:fs';

type Entry = {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
};
type Lock = { packages: Record<string, Entry> };

const FILE = new URL('../package-lock.json', import.meta.url);

/** "@scope/binding-linux-x64-musl" → where it runs. */
function platformOf(name: string): Pick<Entry, 'os' | 'cpu' | 'libc'> {
  const [os, cpu, abi] = (name.split('/').at(-1) ?? '').replace(/^(?:binding|cli)-/, '').split('-');
  if (os === 'wasm32') return { cpu: ['wasm32'] };
  const libc = os === 'linux' ? { libc: [abi?.startsWith('musl') ? 'musl' : 'glibc'] } : {};
  return { cpu: [cpu], ...libc, os: [os] };
}

function missingEntries({ packages }: Lock): [string, Entry][] {
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .flatMap(([path, { optionalDependencies = {}, dev }]) =>
      Object.entries(optionalDependencies)
        .filter(([name]) => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`])
        .map(([name, version]): [string, Entry] => [
          `node_modules/${name}`,
          { version: version.replace(/^[~^]/, ''), ...platformOf(name), ...(dev ? { dev } : {}), optional: true },
        ]),
    );
}

const lock: Lock = JSON.parse(readFileSync(FILE, 'utf8'));
const added = missingEntries(lock);
const all = [...Object.entries(lock.packages), ...added].sort(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(FILE, `${JSON.stringify({ ...lock, packages: Object.fromEntries(all) }, undefined, 2)}\n`);
console.log(`added ${added.length} packages for other platforms`);
