/** What flows through a graph: typed, shaped, named values. Dimensions are numbers, or names for what a run decides. */

/** Element types we build with, by their ONNX meaning. */
export type DType = 'float32' | 'uint8' | 'int8' | 'int32' | 'int64' | 'bool';

/** A dimension: fixed, or named ("B" documents, "T" tokens) and known only when the graph runs. */
export type Dim = number | string;

/** A tensor inside a graph. `shape` is what is known of it; the engine checks the rest when it runs. */
export type Value = {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly Dim[];
};

/** Typed arrays that hold each element type. */
export type TensorData = Float32Array | Uint8Array | Int8Array | Int32Array | BigInt64Array;

/** A concrete tensor: what goes into a run and what comes out. */
export type Tensor = {
  readonly dtype: DType;
  readonly dims: readonly number[];
  readonly data: TensorData;
};

/** A place in a file that holds a tensor's little-endian bytes, so that weights need not pass through our memory. */
export type FileSlice = {
  /** File name, relative to the folder given to the session. */
  readonly location: string;
  readonly offset: number;
  readonly length: number;
};

/** ONNX's numbers for the element types (TensorProto.DataType). */
export const ONNX_DTYPE: Readonly<Record<DType, number>> = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
};
