/** Errors, sparse vectors, seeded randomness, what JSON and float32 need, and the interfaces of logging and progress. */
export type { ErrorMaker } from './bytes.ts';
export { ByteReader, ByteWriter } from './bytes.ts';
export { crc32, updateCrc32 } from './crc32.ts';
export type { ErrorDetails, SettingPath } from './errors.ts';
export {
  assert,
  CheckpointError,
  ConfigError,
  DownloadError,
  EngineError,
  errorCode,
  FigureError,
  forSetting,
  IdfError,
  IndexFormatError,
  IndexStateError,
  InputError,
  InterruptedError,
  LockedError,
  LzeroError,
  MissingDependencyError,
  messageOf,
  NoGainError,
  OutputError,
  ResumeError,
  ShapeError,
  SiteError,
  TokenizerError,
  UsageError,
} from './errors.ts';
export { evenlySpaced } from './evenly-spaced.ts';
export { formatFloat32 } from './float32.ts';
export { escapeHtml, scriptJson } from './html.ts';
export { inParallel } from './in-parallel.ts';
export type { JsonObject } from './json.ts';
export { describeIssues, hasRepeatedKeys, isJsonObject, parseJson } from './json.ts';
export type { Logger } from './logger.ts';
export { silentLogger } from './logger.ts';
export { nearest } from './nearest.ts';
export type { Progress } from './progress.ts';
export { RateMeter, silentProgress } from './progress.ts';
export { printable, quoted, shownJson } from './quoted.ts';
export { derivedSeed, Random } from './random.ts';
export type { SparseVector } from './sparse-vector.ts';
export { byWeight, dot, sparseVector, sumOf } from './sparse-vector.ts';
export type { ThreadFailure } from './thread-failure.ts';
export { errorFrom, failureOf } from './thread-failure.ts';
export { threadFlags } from './thread-flags.ts';
