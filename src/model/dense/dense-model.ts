/** A dense encoder ready for use: texts to vectors of one size, compared by their product. Teachers and baselines. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ConfigError, EngineError, type Logger, silentLogger } from '../../core/index.ts';
import { readIfExists } from '../../files/index.ts';
import type { Tokenizer } from '../../text/index.ts';
import type { DocumentToEncode, Encoded, EncodeOptions } from '../encode.ts';
import { encodeStream } from '../encode.ts';
import { checkThreads, type RunnerOptions } from '../graph-runner.ts';
import { resolveModel } from '../hub/resolve-model.ts';
import type { Precision } from '../int8/precision.ts';
import { PRECISIONS } from '../int8/precision.ts';
import { graphFiles, weightsIn } from '../layouts/network-in.ts';
import { readTokenizer } from '../model-folder.ts';
import { hashFile } from '../model-identity.ts';
import type { DenseNetwork } from './dense-network.ts';
import { openDenseNetwork } from './dense-network.ts';
import type { DenseFolder, DenseOptions, DenseSettings, Role } from './dense-settings.ts';
import { POOLINGS, readDenseFolder } from './dense-settings.ts';

/** How to load a dense encoder. */
export type DenseLoadOptions = DenseOptions &
  RunnerOptions & {
    /** fp32 if not given; that of an ONNX file is its own. */
    readonly precision?: Precision | undefined;
    /** Folder of the cache that pulled models are in; that of the environment where left out. */
    readonly cache?: string | undefined;
  };

/** How a stream is encoded. */
export type DenseEncodeOptions = EncodeOptions & {
  /** Decides what is put before the texts. */
  readonly role: Role;
};

/** An encoder of texts. Close it when done: it keeps an engine thread. */
export class DenseModel {
  /** As it was named; OWNER/NAME@COMMIT for a pulled one. */
  readonly name: string;
  readonly precision: Precision;
  readonly #folder: DenseFolder;
  readonly #tokenizer: Tokenizer;
  readonly #tokenizerFiles: string;
  readonly #threads: number | undefined;
  #network: Promise<DenseNetwork> | undefined;
  #closed = false;

  /** Reads a folder, or a pulled model by its name. The network is loaded when the first text is encoded. */
  static async load(folder: string, options: DenseLoadOptions = {}): Promise<DenseModel> {
    checkOptions(options);
    checkThreads(options);
    const found = await resolveModel(folder, options.cache);
    const dense = await readDenseFolder(found.folder, options);
    if (dense.graph !== undefined && options.precision === 'int8')
      throw new ConfigError(`${dense.graph} has an arithmetic of its own: int8 cannot be chosen`, {
        hint: 'leave out precision, or name a folder with weights',
      });
    return new DenseModel(found.name ?? folder, { ...options, dense, ...(await readTokenizer(dense.encoderFolder)) });
  }

  private constructor(
    name: string,
    parts: DenseLoadOptions & { dense: DenseFolder; tokenizer: Tokenizer; tokenizerFiles: string },
  ) {
    this.name = name;
    this.precision = parts.dense.graph === undefined ? (parts.precision ?? 'fp32') : 'fp32';
    this.#folder = parts.dense;
    this.#tokenizer = parts.tokenizer;
    this.#tokenizerFiles = parts.tokenizerFiles;
    this.#threads = parts.threads;
  }

  /** What fixes this model's vectors. */
  get settings(): DenseSettings {
    return this.#folder.settings;
  }

  /** Texts as vectors, in input order. Memory does not grow with the input. */
  encode(
    texts: AsyncIterable<DocumentToEncode> | Iterable<DocumentToEncode>,
    { role, ...options }: DenseEncodeOptions,
  ): AsyncGenerator<Encoded<Float32Array>> {
    const { prefixes, maxLength } = this.settings;
    return encodeStream(
      texts,
      {
        tokenise: (text) => this.#tokenizer.encodeForModel(prefixes[role] + text, maxLength),
        encodeBatch: async (batch) => await (await this.#open(options.logger)).encodeBatch(batch),
        emptyVector: new Float32Array(0), // texts without tokens have special ones
      },
      options,
    );
  }

  /** sha256 of all that decides the vectors. */
  async identity(): Promise<string> {
    const { encoderFolder, graph, projectionFolder, settings } = this.#folder;
    const hash = createHash('sha256');
    const config = await readIfExists(join(encoderFolder, 'config.json'));
    hash.update(JSON.stringify(['dense 2', settings, this.precision, this.#tokenizerFiles, config]));
    const weights = await weightsIn(encoderFolder);
    const projection = projectionFolder === undefined ? undefined : await weightsIn(projectionFolder);
    const files = [...(graph === undefined ? [weights] : await graphFiles(graph)), projection];
    for (const path of files) if (path !== undefined) await hashFile(hash, path);
    return hash.digest('hex');
  }

  /** Ends the engine, if it was started. Streams that are still running fail. */
  async close(): Promise<void> {
    this.#closed = true;
    await (await this.#network?.catch(() => undefined))?.close();
  }

  #open(logger: Logger = silentLogger): Promise<DenseNetwork> {
    if (this.#closed) throw new EngineError('the model was closed', { hint: 'load it again' });
    if (!this.#network && this.#folder.isPoolingAssumed)
      logger.warn(
        `${this.name} does not say how it pools: the ${this.settings.pooling} is taken; say pooling=mean or pooling=cls`,
      );
    this.#network ??= openDenseNetwork(this.#folder, { precision: this.precision, threads: this.#threads }).then(
      (network) => {
        if (network.engineProblem) logger.warn(`encoding is slower than it could be: ${network.engineProblem}`);
        return network;
      },
    );
    return this.#network;
  }
}

/** Types do not hold those who call from JavaScript, nor what a configuration says. */
function checkOptions({ pooling, precision }: DenseLoadOptions): void {
  if (pooling !== undefined && !POOLINGS.includes(pooling))
    throw new ConfigError(`pooling is ${pooling}, expected ${POOLINGS.join(' or ')}`);
  if (precision !== undefined && !PRECISIONS.includes(precision))
    throw new ConfigError(`precision is ${precision}, expected ${PRECISIONS.join(' or ')}`);
}

/** v·w; of vectors of length 1 their cosine. */
export function denseProduct(v: Float32Array, w: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < v.length; i++) sum += v[i] * w[i];
  return sum;
}
