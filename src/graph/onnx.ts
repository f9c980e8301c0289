/**
 * A graph as the bytes of an ONNX ModelProto. Field numbers are those of onnx.proto3
 * (https://github.com/onnx/onnx/blob/v1.19.0/onnx/onnx.proto3).
 */
import type { Attribute, Constant, GraphBuilder, Node } from './builder.ts';
import { MessageWriter } from './protobuf.ts';
import type { Value } from './value.ts';
import { ONNX_DTYPE } from './value.ts';

/** Which version of ONNX a file is written in: the operator set, and the format around it. */
export type OnnxVersion = { readonly opset: number; readonly ir: number };

/** For the engine beside us: the newest that every runtime we use reads. */
const NEWEST: OnnxVersion = { opset: 21, ir: 10 };

/** For files that leave the house: ONNX Runtime reads it from 1.16 on, which OpenSearch 3.6 has. Without Gelu: spell it out. */
export const PORTABLE: OnnxVersion = { opset: 19, ir: 9 };

/** The engine's own operators, beside the standard. */
const ENGINE_DOMAIN = 'com.microsoft';

/** Attribute kinds (AttributeProto.AttributeType). */
const KIND = { float: 1, int: 2, string: 3, graph: 5, ints: 7 } as const;

/** Serialises a graph, subgraphs and inline constants included. */
export function toOnnx(graph: GraphBuilder, { opset, ir }: OnnxVersion = NEWEST): Uint8Array<ArrayBuffer> {
  const operators = (domain: string, version: number) => new MessageWriter().string(1, domain).int(2, version);
  const model = new MessageWriter()
    .int(1, ir)
    .string(2, 'lzero')
    .message(7, graphProto(graph))
    .message(8, operators('', opset));
  if (usesEngineOperators(graph)) model.message(8, operators(ENGINE_DOMAIN, 1));
  return model.finish();
}

function usesEngineOperators({ nodes }: GraphBuilder): boolean {
  const inside = (attribute: Attribute): boolean =>
    typeof attribute === 'object' && 'graph' in attribute && usesEngineOperators(attribute.graph);
  return nodes.some(({ domain, attributes }) => domain === ENGINE_DOMAIN || Object.values(attributes).some(inside));
}

function graphProto(graph: GraphBuilder): MessageWriter {
  const proto = new MessageWriter();
  for (const node of graph.nodes) proto.message(1, nodeProto(node));
  proto.string(2, graph.name);
  for (const constant of graph.constants) proto.message(5, tensorProto(constant));
  for (const input of graph.inputs) proto.message(11, valueInfoProto(input));
  for (const output of graph.outputs) proto.message(12, valueInfoProto(output));
  return proto;
}

function nodeProto(node: Node): MessageWriter {
  const proto = new MessageWriter();
  for (const input of node.inputs) proto.string(1, input?.name ?? '');
  for (const output of node.outputs) proto.string(2, output.name);
  proto.string(3, node.outputs[0].name).string(4, node.op);
  for (const [name, attribute] of Object.entries(node.attributes)) proto.message(5, attributeProto(name, attribute));
  return proto.string(7, node.domain);
}

function attributeProto(name: string, attribute: Attribute): MessageWriter {
  const proto = new MessageWriter().string(1, name);
  if (typeof attribute === 'number') return proto.int(3, attribute).int(20, KIND.int);
  if (typeof attribute === 'string') return proto.string(4, attribute).int(20, KIND.string);
  if ('float' in attribute) return proto.float(2, attribute.float).int(20, KIND.float);
  if ('graph' in attribute) return proto.message(6, graphProto(attribute.graph)).int(20, KIND.graph);
  for (const x of attribute) proto.int(8, x);
  return proto.int(20, KIND.ints);
}

function tensorProto({ value, data }: Constant): MessageWriter {
  const proto = new MessageWriter();
  for (const dim of value.shape) proto.int(1, Number(dim));
  proto.int(2, ONNX_DTYPE[value.dtype]).string(8, value.name);
  if (!('location' in data)) return proto.bytes(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  const entry = (key: string, text: string) => new MessageWriter().string(1, key).string(2, text);
  return proto
    .message(13, entry('location', data.location))
    .message(13, entry('offset', String(data.offset)))
    .message(13, entry('length', String(data.length)))
    .int(14, 1); // data_location = EXTERNAL
}

function valueInfoProto(value: Value): MessageWriter {
  const shape = new MessageWriter();
  for (const dim of value.shape) {
    const proto = new MessageWriter();
    shape.message(1, typeof dim === 'number' ? proto.int(1, dim) : proto.string(2, dim));
  }
  const tensor = new MessageWriter().int(1, ONNX_DTYPE[value.dtype]).message(2, shape);
  return new MessageWriter().string(1, value.name).message(2, new MessageWriter().message(1, tensor));
}
