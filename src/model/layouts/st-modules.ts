/**
 * Which modules a sentence-transformers folder is made of: modules.json, and router_config.json where queries and
 * documents go different ways. Versions 5 and 6 give the same modules different class names.
 *
 *     modules.json     [Router]                                 queries looked up, documents encoded
 *                      [Transformer, SpladePooling]             both encoded: a Siamese model
 *     router_config    query: [SparseStaticEmbedding], document: [Transformer, SpladePooling]
 *
 * Layout as of sentence-transformers 6.2 (`BaseModel.save`, `Router.save`) and 5.0.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { quoted } from '../../core/index.ts';
import { folderInside, readJsonFile, unsupported } from './module-files.ts';

/** The file that lists the modules. */
export const MODULES_FILE = 'modules.json';
/** The file that says what a router chooses among. */
export const ROUTER_FILE = 'router_config.json';

/** What to do with a dense model. */
export const DENSE_HINT =
  'a dense model becomes a sparse one with: lzero model import FOLDER -o MODEL --head pooled --calibrate INPUT';

/** Modules that we understand. */
const KINDS = ['Router', 'Transformer', 'MLMTransformer', 'SpladePooling', 'SparseStaticEmbedding'] as const;
/** Kind of a module: the last part of its class name. */
export type ModuleKind = (typeof KINDS)[number];

/** A module, found. */
export type Module = {
  readonly kind: ModuleKind;
  readonly folder: string;
  /** File and key that name it. */
  readonly where: string;
};

/** The modules that documents and queries pass, in order. */
export type Routes = { readonly document: readonly Module[]; readonly query: readonly Module[] };

/** A model has a handful of modules; a longer list is somebody's attack. */
const MAX_MODULES = 16;

/** modules.json of any model, sparse or not. */
export const moduleListSchema = z
  .array(z.looseObject({ path: z.string(), type: z.string() }))
  .min(1)
  .max(MAX_MODULES);
/** What router_config.json of any model says of its modules: by the folder of each, its class. */
export const routerTypesSchema = z.object({ types: z.record(z.string(), z.string()) });

const route = z.array(z.string()).min(1).max(MAX_MODULES);

/** Other routes, and rules that send texts to them, would be chosen by arguments that we do not have. */
const routerSchema = routerTypesSchema.extend({
  structure: z.strictObject({ query: route, document: route }),
  parameters: z
    .strictObject({
      default_route: z.string().nullish(),
      allow_empty_key: z.boolean().nullish(),
      route_mappings: z.strictObject({}).nullish(),
    })
    .optional(),
});

/** The modules of a folder. */
export async function readRoutes(folder: string): Promise<Routes> {
  const path = join(folder, MODULES_FILE);
  const listed = await readJsonFile(path, moduleListSchema);
  const modules: Module[] = [];
  for (const [i, { path: place, type }] of listed.entries()) {
    const where = `${path}: ${i}.type`;
    const kind = kindOf(type, where);
    modules.push({ kind, folder: await folderInside(folder, place, `${path}: ${i}.path`), where });
  }
  if (modules[0].kind !== 'Router') return { document: modules, query: modules };
  if (modules.length === 1) return await readRouter(modules[0].folder);
  throw unsupported(modules[1].where, `a ${modules[1].kind} after a Router, expected the Router alone`);
}

/** The two ways through a router. It may lie in a folder of its own; its modules lie below it, or are its own folder. */
async function readRouter(folder: string): Promise<Routes> {
  const path = join(folder, ROUTER_FILE);
  const { types, structure } = await readJsonFile(path, routerSchema);
  const modulesOf = async (name: keyof typeof structure): Promise<Module[]> => {
    const modules: Module[] = [];
    for (const [i, id] of structure[name].entries())
      modules.push(await moduleOf(id, `${path}: structure.${name}.${i}`));
    return modules;
  };
  const moduleOf = async (id: string, where: string): Promise<Module> => {
    const type = Object.hasOwn(types, id) ? types[id] : undefined;
    if (type === undefined) throw unsupported(where, `${quoted(id)} is not among the types`);
    const kind = kindOf(type, `${path}: types.${id}`);
    if (kind === 'Router') throw unsupported(`${path}: types.${id}`, 'a Router inside a Router');
    return { kind, folder: await folderInside(folder, id, where), where };
  };
  return { query: await modulesOf('query'), document: await modulesOf('document') };
}

/** The kind behind a class name such as sentence_transformers.sparse_encoder.models.SpladePooling.SpladePooling. */
function kindOf(type: string, where: string): ModuleKind {
  const name = type.split('.').at(-1);
  const kind = KINDS.find((known) => known === name);
  if (kind !== undefined && type.startsWith('sentence_transformers.')) return kind;
  throw unsupported(where, `expected ${KINDS.join(', ')} of sentence_transformers, got ${quoted(type)}`, DENSE_HINT);
}
