/**
 * The compute engine, loaded when first needed: onnxruntime-node, or onnxruntime-web where no native binary exists.
 * The only place that knows their package names, their version, and what one can do that the other cannot.
 */
import { MissingDependencyError, messageOf } from '../core/index.ts';

/**
 * The part of ONNX Runtime's interface that both packages share and we use.
 * @internal
 */
export type Engine = Pick<typeof import('onnxruntime-node'), 'InferenceSession' | 'Tensor' | 'env'>;

/** The engines by package name, the preferred one first. */
export const ENGINES = ['onnxruntime-node', 'onnxruntime-web'] as const;

/** Which engine is here. */
export type EngineName = (typeof ENGINES)[number];

/** The version of either that lzero is tested with, as package.json has it. */
export const ENGINE_VERSION = '1.30.0';

/** Installs the native engine without the GPU libraries that its install script would fetch from elsewhere. */
export const ENGINE_INSTALL_COMMAND = `npm install onnxruntime-node@${ENGINE_VERSION} --ignore-scripts --no-save`;
const WEB_INSTALL_COMMAND = `npm install onnxruntime-web@${ENGINE_VERSION} --no-save`;

/** Whether an engine maps constants from files by itself; the other one gets them as bytes in the graph. */
export function canMapFiles(engine: EngineName): boolean {
  return engine === 'onnxruntime-node';
}

/**
 * What computes: ONNX Runtime's name for the processor in each engine.
 * @internal
 */
export function providerOf(engine: EngineName): 'cpu' | 'wasm' {
  return engine === 'onnxruntime-node' ? 'cpu' : 'wasm';
}

const LOADERS: Readonly<Record<EngineName, () => Promise<Engine>>> = {
  'onnxruntime-node': () => import('onnxruntime-node'),
  'onnxruntime-web': () => import('onnxruntime-web'),
};

/**
 * Loads the first engine that this machine has.
 * @internal
 */
export async function loadEngine(): Promise<{ readonly name: EngineName; readonly ort: Engine }> {
  const reasons: string[] = [];
  for (const name of ENGINES) {
    try {
      return { name, ort: await LOADERS[name]() };
    } catch (error) {
      reasons.push(`${name}: ${messageOf(error).split('\n')[0]}`);
    }
  }
  throw new MissingDependencyError(
    `encoding with a neural model needs ONNX Runtime, which is not here (${reasons.join('; ')})`,
    {
      hint: `run: ${ENGINE_INSTALL_COMMAND}   (where it has no native binary: ${WEB_INSTALL_COMMAND})`,
    },
  );
}

/** Name and version of the engine that would be used, or undefined where there is none. */
export async function findEngine(): Promise<{ readonly name: EngineName; readonly version: string } | undefined> {
  try {
    const { name, ort } = await loadEngine();
    const { node, web, common } = ort.env.versions;
    return { name, version: (name === 'onnxruntime-node' ? node : web) ?? common };
  } catch (error) {
    if (error instanceof MissingDependencyError) return undefined;
    throw error;
  }
}
