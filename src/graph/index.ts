/** ONNX graphs: building, writing and running them. */
export type { Attribute, Constant, Node, NodeOptions, ValueType } from './builder.ts';
export { GraphBuilder } from './builder.ts';
export { choose, forEachRow } from './control-flow.ts';
export type { EngineName, FoundEngine } from './engine.ts';
export { canMapFiles, ENGINE_INSTALL_COMMAND, ENGINE_VERSION, ENGINES, findEngine } from './engine.ts';
export type { OnnxVersion } from './onnx.ts';
export { PORTABLE, toOnnx } from './onnx.ts';
export {
  add,
  cast,
  concat,
  firstRows,
  gather,
  geluByTanh,
  layerNorm,
  linear,
  matMul,
  multiply,
  reduce,
  reshape,
  shapeOf,
  softmax,
  subtract,
  transpose,
  unary,
  unsqueeze,
  whereTrue,
} from './ops.ts';
export type { ModelInterface, SessionModel } from './session.ts';
export { Session } from './session.ts';
export type { Dim, DType, FileSlice, Tensor, TensorData, Value } from './value.ts';
