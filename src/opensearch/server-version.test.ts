import { describe, expect, it } from 'vitest';
import {
  compareVersions,
  hasFeature,
  requireFeature,
  type ServerDescription,
  type ServerFeature,
} from './server-version.ts';

const PLUGINS = ['opensearch-knn', 'opensearch-neural-search', 'opensearch-ml'];
const server = (version: string, plugins: readonly string[] | undefined = PLUGINS): ServerDescription => ({
  version,
  distribution: 'opensearch',
  plugins,
});

describe('features of servers', () => {
  const LIMITS: readonly [ServerFeature, string, string][] = [
    ['rank_feature', '1.0.1', '1.1.0'],
    ['neural_sparse', '2.13.0', '2.14.0'],
    ['two-phase', '2.14.0', '2.15.0'],
    ['analyzer', '3.0.0', '3.1.0'],
    ['ml-model', '2.10.0', '2.11.0'],
    ['hybrid', '2.9.0', '2.10.0'],
    ['sparse_vector', '3.2.0', '3.3.0'],
  ];
  it.each(LIMITS)('%s is refused by name on %s, and taken on %s', (feature, before, since) => {
    expect(hasFeature(server(before), feature)).toBe(false);
    expect(() => requireFeature(server(before), feature)).toThrow(
      expect.objectContaining({ code: 'SERVER_UNSUPPORTED', message: expect.stringContaining(before) }),
    );
    expect(hasFeature(server(since), feature)).toBe(true);
    expect(() => requireFeature(server(since), feature)).not.toThrow();
  });

  it('a missing plugin is named', () => {
    expect(() => requireFeature(server('3.6.0', []), 'neural_sparse')).toThrow(
      /needs the plugin opensearch-neural-search/,
    );
    expect(() => requireFeature(server('3.6.0', ['opensearch-neural-search']), 'analyzer')).toThrow(/opensearch-ml/);
  });

  it('plugins that a server does not tell are taken to be there', () => {
    expect(hasFeature({ ...server('3.6.0'), plugins: undefined }, 'neural_sparse')).toBe(true);
  });

  it('another distribution is refused', () => {
    expect(() => requireFeature({ ...server('8.11.0'), distribution: 'elasticsearch' }, 'hybrid')).toThrow(
      /elasticsearch 8\.11\.0/,
    );
  });

  it('rank_feature clauses are what Elasticsearch has, too, from 7.12 on', () => {
    expect(hasFeature({ ...server('7.12.0'), distribution: 'elasticsearch' }, 'rank_feature')).toBe(true);
    expect(() => requireFeature({ ...server('7.10.2'), distribution: 'elasticsearch' }, 'rank_feature')).toThrow(
      /Elasticsearch 7\.12 or newer, the server is 7\.10\.2/,
    );
  });

  it('versions are compared by their numbers', () => {
    expect(compareVersions('2.9', '2.15')).toBeLessThan(0);
    expect(compareVersions('3.6.0-SNAPSHOT', '3.6.0')).toBe(0);
    expect(compareVersions('10.0', '9.9')).toBeGreaterThan(0);
  });
});
