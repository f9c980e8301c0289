/**
 * What a server can do, by its version and plugins. One table: whoever needs more than every OpenSearch has asks
 * `requireFeature`, and an old server is refused by name before a request is made of it.
 */
import { UnsupportedServerError } from './errors.ts';

/** What a server says of itself. */
export type ServerDescription = {
  /** Such as "3.6.0". */
  readonly version: string;
  /** "opensearch", or what it calls itself. */
  readonly distribution: string;
  /** Names of its plugins; undefined where it does not tell (managed services). */
  readonly plugins: readonly string[] | undefined;
};

/** What not every server has. */
export type ServerFeature =
  | 'rank_feature'
  | 'neural_sparse'
  | 'two-phase'
  | 'analyzer'
  | 'ml-model'
  | 'hybrid'
  | 'sparse_vector';

type Requirement = {
  /** First version that has it. */
  readonly since: string;
  readonly plugin?: string;
  /** First version of Elasticsearch that has it, too. */
  readonly elasticsearch?: string;
  readonly instead: string;
};

const NEURAL = 'opensearch-neural-search';
const ML = 'opensearch-ml';

/** First versions as OpenSearch's documentation gives them. All of it was tried on 3.6.0 only. */
const REQUIREMENTS: Readonly<Record<ServerFeature, Requirement>> = {
  rank_feature: {
    since: '1.1', // 1.0 has the query, but not its linear function
    elasticsearch: '7.12',
    instead: 'none: an older server has no sum of weights; update it',
  },
  neural_sparse: {
    since: '2.14', // 2.11 has the query, but takes no weights of tokens
    plugin: NEURAL,
    instead: 'search rank_features with a bool of rank_feature clauses, which servers from 1.1 on have',
  },
  'two-phase': { since: '2.15', plugin: NEURAL, instead: 'leave out two-phase: the answers are the same, and exact' },
  analyzer: { since: '3.1', plugin: ML, instead: 'let lzero weigh the query tokens, which is the default' },
  'ml-model': { since: '2.11', plugin: ML, instead: 'let lzero weigh the query tokens, which is the default' },
  hybrid: { since: '2.10', plugin: NEURAL, instead: 'join answers with hybridEngine of lzero/engines' },
  sparse_vector: { since: '3.3', plugin: NEURAL, instead: 'use a rank_features field' },
};

/** Whether a server has something. Plugins that it does not tell are taken to be there. */
export function hasFeature(server: ServerDescription, feature: ServerFeature): boolean {
  return problemOf(server, feature) === undefined;
}

/** Refuses a server that lacks something. */
export function requireFeature(server: ServerDescription, feature: ServerFeature): void {
  const problem = problemOf(server, feature);
  if (problem !== undefined)
    throw new UnsupportedServerError(`${feature} ${problem}`, { hint: REQUIREMENTS[feature].instead });
}

function problemOf({ version, distribution, plugins }: ServerDescription, feature: ServerFeature): string | undefined {
  const { since, plugin, elasticsearch } = REQUIREMENTS[feature];
  if (distribution === 'elasticsearch' && elasticsearch !== undefined)
    return compareVersions(version, elasticsearch) < 0
      ? `needs Elasticsearch ${elasticsearch} or newer, the server is ${version}`
      : undefined;
  if (distribution !== 'opensearch') return `is a feature of OpenSearch, the server is ${distribution} ${version}`;
  if (compareVersions(version, since) < 0) return `needs OpenSearch ${since} or newer, the server is ${version}`;
  if (plugin !== undefined && plugins !== undefined && !plugins.includes(plugin))
    return `needs the plugin ${plugin}, which the server lacks`;
  return undefined;
}

/** Negative where `a` is older. Parts that are no numbers ("-SNAPSHOT") do not count. */
export function compareVersions(a: string, b: string): number {
  const [x, y] = [a, b].map((version) => version.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0));
  for (let i = 0; i < 3; i++) if ((x[i] ?? 0) !== (y[i] ?? 0)) return (x[i] ?? 0) - (y[i] ?? 0);
  return 0;
}
