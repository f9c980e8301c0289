/**
 * The files of an ONNX model: the graph, and those beside it that hold weights which are not inside (ONNX calls them
 * external data). Which these are, each tensor says itself; their names follow no rule. What a file names must lie beside
 * it: a model that was fetched reads nothing else of the machine.
 *
 *     TensorProto.external_data   [{key: "location", value: "model.onnx_data"}, {key: "offset", …}, …]
 */
import { dirname, join } from 'node:path';
import { CheckpointError, quoted } from '../../core/index.ts';
import { exists } from '../../files/index.ts';
import { type MessageReader, readMessage, type Span } from './message-reader.ts';

type Message = 'model' | 'function' | 'graph' | 'node' | 'attribute' | 'sparse' | 'tensor';

/**
 * Where tensors can be: in which field of a message which other one is. Numbers are those of onnx.proto3
 * (https://github.com/onnx/onnx/blob/v1.19.0/onnx/onnx.proto3).
 */
const PARTS: Readonly<Record<Message, Readonly<Record<number, Message | 'entry'>>>> = {
  model: { 7: 'graph', 25: 'function' },
  function: { 7: 'node' },
  graph: { 1: 'node', 5: 'tensor', 15: 'sparse' },
  node: { 5: 'attribute' },
  attribute: { 5: 'tensor', 6: 'graph', 10: 'tensor', 11: 'graph', 22: 'sparse', 23: 'sparse' },
  sparse: { 1: 'tensor', 2: 'tensor' },
  tensor: { 13: 'entry' },
};

/** Fields of an entry, and the key of the one that names a file. */
const KEY = 1;
const VALUE = 2;
const LOCATION = 'location';

/** Messages within each other: graphs inside of loops inside of loops. */
const MAX_DEPTH = 64;
/** Names of files are shorter. */
const MAX_LOCATION_BYTES = 1024;
/** Nodes up to here are looked through for the word before they are taken apart; hardly any has it. */
const MAX_SEARCHED_BYTES = 2 ** 16;

/** The graph and the files beside it that it names, all of them there. */
export async function graphFiles(path: string): Promise<string[]> {
  const data = (await externalLocations(path)).map((location) => join(dirname(path), location));
  for (const file of data)
    if (!(await exists(file)))
      throw new CheckpointError(`${file} is missing: ${path} has weights in it`, {
        hint: 'the model is not whole: fetch or export it again, with all files',
      });
  return [path, ...data];
}

/** Names of the files beside a graph that hold weights of it, in order. One that leads elsewhere is refused. */
export async function externalLocations(path: string): Promise<string[]> {
  const locations = await readMessage(path, async (reader, whole) => {
    const search = new LocationSearch(reader);
    await search.look('model', whole);
    return search.found;
  });
  for (const location of locations) if (!isFileName(location)) throw leadsElsewhere(path, location);
  return [...locations].sort();
}

/** A name without a way to another folder, on any system. */
function isFileName(name: string): boolean {
  return /^[^/\\:\p{Cc}]+$/u.test(name) && name !== '.' && name !== '..';
}

function leadsElsewhere(path: string, location: string): CheckpointError {
  return new CheckpointError(`${path}: has weights in ${quoted(location)}, expected the name of a file beside it`, {
    hint: 'save the model again with its weights inside, or in a file in the same folder',
  });
}

class LocationSearch {
  readonly #reader: MessageReader;
  readonly found = new Set<string>();

  constructor(reader: MessageReader) {
    this.#reader = reader;
  }

  async look(message: Message, span: Span, depth = 0): Promise<void> {
    if (depth > MAX_DEPTH) throw this.#reader.fail(span.begin, `more than ${MAX_DEPTH} messages within each other`);
    if (message === 'node' && !(await this.#mayNameFile(span))) return;
    for await (const { number, content } of this.#reader.fields(span)) {
      const part = PARTS[message][number];
      if (part === undefined || !content) continue;
      if (part === 'entry') await this.#entry(content);
      else await this.look(part, content, depth + 1);
    }
  }

  async #mayNameFile(span: Span): Promise<boolean> {
    if (span.end - span.begin > MAX_SEARCHED_BYTES) return true;
    const { buffer, byteOffset, byteLength } = await this.#reader.bytes(span);
    return Buffer.from(buffer, byteOffset, byteLength).includes(LOCATION);
  }

  async #entry(span: Span): Promise<void> {
    const texts = new Map<number, string>();
    for await (const { number, content } of this.#reader.fields(span)) {
      if (!content || (number !== KEY && number !== VALUE)) continue;
      if (content.end - content.begin > MAX_LOCATION_BYTES)
        throw this.#reader.fail(content.begin, `a word about weights of ${content.end - content.begin} bytes`);
      texts.set(number, new TextDecoder().decode(await this.#reader.bytes(content)));
    }
    if (texts.get(KEY) === LOCATION) this.found.add(texts.get(VALUE) ?? '');
  }
}
