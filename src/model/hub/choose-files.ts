/**
 * Which files of a repository a model needs: what describes it, its tokenizer, its query weights, and its weights once.
 * Repositories often hold the same weights for several frameworks. Knows names, not contents.
 */
import { z } from 'zod';
import { CheckpointError, printable, quoted } from '../../core/index.ts';
import { parseChecked } from '../layouts/module-files.ts';
import { GRAPHS } from '../layouts/network-in.ts';
import { MODULES_FILE, moduleListSchema, ROUTER_FILE, routerTypesSchema } from '../layouts/st-modules.ts';
import { WEIGHT_FILE_NAMES } from '../tensors/open-tensor-file.ts';
import { isInside } from './listing.ts';

/** Files that describe a model, in any folder of it. */
const DESCRIPTIONS: readonly RegExp[] = [
  /^(?:lzero|config|modules|router_config|config_sentence_transformers|sentence_\w+_config)\.json$/,
  /^(?:tokenizer|tokenizer_config|special_tokens_map|added_tokens)\.json$/,
  /^vocab\.txt$/,
  /^(?:idf\.json|query_token_weights\.txt)$/,
];

/** Weights of a folder, best first: of several one is fetched. */
const WEIGHTS: readonly string[] = [...WEIGHT_FILE_NAMES, ...GRAPHS];

/** A folder of a repository: '' or "1_SpladePooling". */
type Folder = string;

/** The folders of a model of several modules. */
export type ModuleFolders = {
  /** Of the modules, which may hold weights. */
  readonly modules: readonly Folder[];
  /** Of routers, which choose among modules and hold none. */
  readonly routers: readonly Folder[];
};

/** What the files of a model say about others. */
export type NamedFiles = {
  /** Of modules.json, where there is one. */
  readonly folders?: ModuleFolders | undefined;
  /** The network, where lzero.json says which file it is. */
  readonly network?: string | undefined;
  /** Tables of query weights, whatever they are called; for each the places where it may be, best first. */
  readonly tables?: readonly (readonly string[])[] | undefined;
};

/** The files of a model, out of those of its repository; what an ONNX file has beside it, it says itself. */
export function chooseFiles(paths: Iterable<string>, { folders, network, tables = [] }: NamedFiles = {}): string[] {
  const all = new Set(paths);
  const { modules, routers } = folders ?? { modules: [''], routers: [] };
  const described = new Set(['', ...modules, ...routers]);
  const descriptions = [...all].filter((path) => {
    const { folder, file } = split(path);
    return described.has(folder) && DESCRIPTIONS.some((known) => known.test(file));
  });
  const wanted = network === undefined ? modules.flatMap((folder) => weightsIn(folder, all) ?? []) : [network];
  const weights = wanted.filter((path) => all.has(path));
  if (weights.length === 0 && !isWithoutNetwork(all)) throw noWeights(all);
  const named = tables.flatMap((places) => places.find((path) => all.has(path)) ?? []);
  return [...new Set([...descriptions, ...weights, ...named])].sort();
}

function weightsIn(folder: Folder, all: ReadonlySet<string>): string | undefined {
  return WEIGHTS.map((file) => join(folder, file)).find((path) => all.has(path));
}

/** A model of our own that only counts tokens. */
function isWithoutNetwork(all: ReadonlySet<string>): boolean {
  return all.has('lzero.json') && !all.has('config.json');
}

function noWeights(all: ReadonlySet<string>): CheckpointError {
  const others = [...all].filter((path) => /\.(?:safetensors|bin|onnx|h5|msgpack|gguf|pt|pth|ckpt)$/.test(path));
  const has = others.length > 0 ? `; there are ${printable(others.slice(0, 5).join(', '))}` : '';
  return new CheckpointError(`the repository has no weights that can be read${has}`, {
    hint: `expected ${WEIGHTS.join(', ')}, or one of these in the folder of a module`,
  });
}

// ---- what files say about others

const settingsSchema = z.object({ file: z.string().optional() });
const tableSchema = z.object({ path: z.string().nullish() });

/** Reads a file of the repository; undefined where it has none of this path. */
export type ReadRepositoryFile = (path: string) => Promise<string | undefined>;

/** Reads the few files that name others. */
export async function namedFiles(read: ReadRepositoryFile): Promise<NamedFiles> {
  const settings = await read('lzero.json');
  const network = settings === undefined ? undefined : parseChecked(settings, 'lzero.json', settingsSchema).file;
  const listed = await listedModules(read);
  if (listed === undefined) return { network };
  const { modules, routers } = listed;
  const tables: string[][] = [];
  for (const { folder, type } of modules)
    if (/\.SparseStaticEmbedding$/.test(type)) tables.push(await tablePlaces(folder, read));
  return { network, folders: { modules: modules.map(({ folder }) => folder), routers }, tables };
}

/** Where the table may be that a SparseStaticEmbedding names: in its own folder, else in that of the model. */
async function tablePlaces(folder: Folder, read: ReadRepositoryFile): Promise<string[]> {
  const file = join(folder, 'config.json');
  const text = await read(file);
  const named = text === undefined ? undefined : parseChecked(text, file, tableSchema).path;
  const path = named?.replace(/^(?:\.\/+)+/, '') ?? '';
  const isTable = path.endsWith('.json') && isInside(path); // what else it names is refused when the model is read
  return isTable ? [join(folder, path), path] : [];
}

type ListedModule = { readonly folder: Folder; readonly type: string };
type ListedModules = { readonly modules: readonly ListedModule[]; readonly routers: readonly Folder[] };

/**
 * The modules that modules.json names, and those that the routers among them name; undefined without modules.json.
 * sentence-transformers writes both; `Asym` is what it called the routers of dense models, which can be given a head here.
 */
async function listedModules(read: ReadRepositoryFile): Promise<ListedModules | undefined> {
  const text = await read(MODULES_FILE);
  if (text === undefined) return undefined;
  const modules: ListedModule[] = [];
  const routers: Folder[] = [];
  for (const { path, type } of parseChecked(text, MODULES_FILE, moduleListSchema)) {
    const folder = checkFolder(path, MODULES_FILE);
    const file = join(folder, ROUTER_FILE);
    const router = /\.(?:Router|Asym)$/.test(type) ? await read(file) : undefined;
    if (router === undefined) modules.push({ folder, type });
    else {
      routers.push(folder);
      for (const [name, kind] of Object.entries(parseChecked(router, file, routerTypesSchema).types))
        modules.push({ folder: checkFolder(join(folder, name), file), type: kind });
    }
  }
  return { modules, routers };
}

function checkFolder(path: string, file: string): Folder {
  const folder = path.replace(/^\.?\/+|\/+$/g, '');
  if (folder === '' || isInside(folder)) return folder;
  throw new CheckpointError(`${file}: the module ${quoted(path)} is not inside of the model`);
}

function join(folder: Folder, file: string): string {
  return folder === '' ? file : file === '' ? folder : `${folder}/${file}`;
}

function split(path: string): { readonly folder: Folder; readonly file: string } {
  const at = path.lastIndexOf('/');
  return { folder: path.slice(0, Math.max(0, at)), file: path.slice(at + 1) };
}
