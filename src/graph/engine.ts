/**
 * The compute engine, loaded when first needed: onnxruntime-node, or onnxruntime-web where no native binary exists.
 * The only place that knows their package names, their version, and what one can do that the other cannot.
 */
import { errorCode, MissingDependencyError, messageOf } from '../core/index.ts';

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
 * Where graphs can be computed. Only the processor is tested; the others need their drivers, and the engine's binary for
 * them: CUDA's is fetched by the install script of onnxruntime-node.
 */
export const DEVICES = ['cpu', 'webgpu', 'cuda', 'dml', 'coreml'] as const;

/** Which processor computes. */
export type Device = (typeof DEVICES)[number];

/**
 * What computes: ONNX Runtime's name for a device in each engine.
 * @internal
 */
export function providerOf(engine: EngineName, device: Device = 'cpu'): Device | 'wasm' {
  return engine === 'onnxruntime-web' && device === 'cpu' ? 'wasm' : device;
}

/**
 * How each engine is loaded.
 * @internal
 */
type Loaders = Readonly<Record<EngineName, () => Promise<Engine>>>;

const LOADERS: Loaders = {
  'onnxruntime-node': () => import('onnxruntime-node'),
  'onnxruntime-web': () => import('onnxruntime-web'),
};

/**
 * An engine in memory.
 * @internal
 */
export type LoadedEngine = {
  readonly name: EngineName;
  readonly ort: Engine;
  /** Why a better one that is installed is not used. */
  readonly problem: string | undefined;
};

/**
 * Loads the first engine that this machine has.
 * @internal
 */
export async function loadEngine(loaders: Loaders = LOADERS): Promise<LoadedEngine> {
  const reasons: string[] = [];
  let problem: string | undefined;
  for (const name of ENGINES) {
    try {
      return { name, ort: await loaders[name](), problem };
    } catch (error) {
      const reason = messageOf(error).split('\n')[0];
      reasons.push(`${name}: ${reason}`);
      if (!isNotInstalled(name, error)) problem ??= `${name} is installed, but does not load: ${reason}`;
    }
  }
  throw new MissingDependencyError(
    `encoding with a neural model needs ONNX Runtime, which is not here (${reasons.join('; ')})`,
    {
      hint: `run: ${ENGINE_INSTALL_COMMAND}   (where it has no native binary: ${WEB_INSTALL_COMMAND}); the model bow needs none`,
    },
  );
}

function isNotInstalled(name: EngineName, error: unknown): boolean {
  return errorCode(error) === 'ERR_MODULE_NOT_FOUND' && messageOf(error).includes(`'${name}'`);
}

/** An engine that would be used. */
export type FoundEngine = {
  readonly name: EngineName;
  readonly version: string;
  /** Why a better one that is installed is not used. */
  readonly problem: string | undefined;
};

/** The engine that would be used, or undefined where there is none. */
export async function findEngine(): Promise<FoundEngine | undefined> {
  try {
    const { name, ort, problem } = await loadEngine();
    const { node, web, common } = ort.env.versions;
    return { name, version: (name === 'onnxruntime-node' ? node : web) ?? common, problem };
  } catch (error) {
    if (error instanceof MissingDependencyError) return undefined;
    throw error;
  }
}
