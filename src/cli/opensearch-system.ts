/**
 * An index on a server as a system to evaluate. How it is asked stands in its name, so that reports tell two ways apart:
 *
 *     opensearch:http://localhost:9200/docs?two-phase
 *     opensearch:http://localhost:9200/theirs?field=passage_embedding&model=./doc-v3
 */
import { UsageError } from '../core/index.ts';
import { engineSystem } from '../eval/index.ts';
import { type IndexAddress, openOpenSearchIndex, parseAddress } from '../opensearch/index.ts';
import { closeAll } from './close-all.ts';
import type { SystemContext, Unnamed } from './eval-systems.ts';
import { share } from './index-options.ts';
import { modelOfIndex, type OpenOptions, serverOf, styleFrom } from './opensearch-options.ts';

/** What a name asks for. */
export type ServerSystemName = { readonly address: IndexAddress; readonly options: OpenOptions };

/** Reads URL/INDEX?two-phase&hybrid=0.7… */
export function readServerSystem(text: string): ServerSystemName {
  const [, before = text, after = ''] = /^([^?]*)\?(.*)$/s.exec(text) ?? [];
  const address = parseAddress(before);
  // Names of systems stand in reports, which is no place for a password.
  if (address.credentials)
    throw new UsageError('the name of a system stands in reports, and this one has a password in it', {
      hint: 'give it as LZERO_OPENSEARCH_USER and LZERO_OPENSEARCH_PASSWORD',
    });
  return { address, options: readOptions(new URLSearchParams(after)) };
}

function readOptions(given: URLSearchParams): OpenOptions {
  let options: OpenOptions = {};
  for (const [name, value] of given) options = { ...options, ...readOption(name, value) };
  return options;
}

function readOption(name: string, value: string): OpenOptions {
  if (name === 'two-phase' && value === '') return { twoPhase: true };
  if (name === 'field' && value !== '') return { field: value };
  if (name === 'model' && value !== '') return { model: value };
  if (name === 'hybrid') return { hybrid: share(value) };
  if (name === 'hybrid-technique' && (value === 'min_max' || value === 'l2')) return { hybridTechnique: value };
  if (name === 'query-kind' && (value === 'neural_sparse' || value === 'rank_feature')) return { queryKind: value };
  throw new UsageError(`a system on OpenSearch has no ${name}${value === '' ? '' : `=${value}`}`, {
    hint: 'two-phase, hybrid=SHARE, hybrid-technique=min_max|l2, query-kind=neural_sparse|rank_feature, field=NAME, model=MODEL',
  });
}

/** Opens it, with the model it was made with where the name says no other. */
export async function serverSystem(
  text: string,
  { context, precision, server: how = {} }: SystemContext,
): Promise<Unnamed> {
  const { address, options: asked } = readServerSystem(text);
  const options = { ...asked, ...(precision === undefined ? {} : { precision }) };
  const server = await serverOf(context, address, how);
  try {
    const model = await modelOfIndex(context, { server, index: address.index, options });
    const { field } = options;
    const index = await openOpenSearchIndex(server, address.index, { model, field, query: styleFrom(options) });
    const { numDocs, sizeBytes } = await index.stats();
    // What the server holds may change behind our back; so far as it can be seen from outside, it is in the id.
    const seen = [numDocs, sizeBytes, index.description, await model.identity()];
    const id = JSON.stringify(['opensearch', address.url, address.index, asked, ...seen]);
    return { system: engineSystem(index, { name: `opensearch:${text}`, id }), close: () => closeAll([index, model]) };
  } catch (error) {
    server.close();
    throw error;
  }
}
