/** What the outputs of an ONNX file are called where it is a dense encoder. Knows the names, runs nothing. */
import { readOnnxInterface } from '../onnx/onnx-interface.ts';

/** Outputs of one vector a text, as sentence-transformers and others call them. */
export const POOLED_OUTPUTS: readonly string[] = ['sentence_embedding'];
/** Outputs of one vector a position. */
const STATE_OUTPUTS = ['token_embeddings', 'last_hidden_state'];
/** Outputs that we understand, best first. */
export const DENSE_OUTPUTS: readonly string[] = [...POOLED_OUTPUTS, ...STATE_OUTPUTS];

/** The output of a file that is pooled already; undefined where it has none. */
export async function pooledOutputOf(graph: string): Promise<string | undefined> {
  const { outputs } = await readOnnxInterface(graph);
  return outputs.find(({ name }) => POOLED_OUTPUTS.includes(name))?.name;
}
