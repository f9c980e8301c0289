/**
 * What an ONNX file says of its inputs and outputs, found without the engine and without reading its weights. The file
 * is not trusted. Field numbers are those of onnx.proto3
 * (https://github.com/onnx/onnx/blob/v1.19.0/onnx/onnx.proto3).
 */
import { type MessageReader, readMessage, type Span } from './message-reader.ts';
import type { OnnxValue } from './value-info.ts';
import { parseValueInfo } from './value-info.ts';

/** What goes into a graph and what comes out. */
export type OnnxInterface = { readonly inputs: readonly OnnxValue[]; readonly outputs: readonly OnnxValue[] };

/** ModelProto.graph, and in it GraphProto.input and .output. */
const GRAPH = 7;
const INPUT = 11;
const OUTPUT = 12;

/** More than any description of one value takes. */
const MAX_VALUE_BYTES = 2 ** 16;
/** More values than any encoder has; old files list their weights among the inputs. */
const MAX_VALUES = 10_000;

/** Reads the interface of an ONNX file. */
export async function readOnnxInterface(path: string): Promise<OnnxInterface> {
  return await readMessage(path, async (reader, whole) => {
    const graphs: Span[] = [];
    for await (const { number, content } of reader.fields(whole)) if (number === GRAPH && content) graphs.push(content);
    if (graphs.length !== 1) throw reader.fail(0, `expected one graph, found ${graphs.length}`);
    return await readGraph(reader, graphs[0]);
  });
}

async function readGraph(reader: MessageReader, graph: Span): Promise<OnnxInterface> {
  const inputs: OnnxValue[] = [];
  const outputs: OnnxValue[] = [];
  for await (const { number, content } of reader.fields(graph)) {
    const list = number === INPUT ? inputs : number === OUTPUT ? outputs : undefined;
    if (!list || !content) continue;
    if (list.length === MAX_VALUES) throw reader.fail(content.begin, `more than ${MAX_VALUES} inputs or outputs`);
    list.push(await readValue(reader, content));
  }
  if (outputs.length === 0) throw reader.fail(graph.begin, 'the graph has no outputs');
  return { inputs, outputs };
}

async function readValue(reader: MessageReader, { begin, end }: Span): Promise<OnnxValue> {
  const length = end - begin;
  if (length > MAX_VALUE_BYTES)
    throw reader.fail(begin, `the description of a value has ${length} bytes, at most ${MAX_VALUE_BYTES} expected`);
  const bytes = await reader.bytes({ begin, end });
  return parseValueInfo(bytes, (at, problem) => reader.fail(begin + at, problem));
}
