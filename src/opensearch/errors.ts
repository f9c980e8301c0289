/** What goes wrong between us and a search server, in kinds that a caller can act on. */
import { type ErrorDetails, LzeroError } from '../core/index.ts';

/** A search server that cannot be reached, does not answer as one, or refuses a request. */
export class ServerError extends LzeroError {
  /** The status of its answer; undefined where there was none. */
  readonly status: number | undefined;
  /** The server's own name of what is wrong, such as `index_not_found_exception`. */
  readonly reasonType: string | undefined;

  constructor(
    message: string,
    details: ErrorDetails & { readonly status?: number | undefined; readonly reasonType?: string | undefined } = {},
  ) {
    super('SERVER', message, details);
    this.status = details.status;
    this.reasonType = details.reasonType;
  }
}

/** Something that this server is too old for, or lacks a plugin for. The hint says what to use instead. */
export class UnsupportedServerError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('SERVER_UNSUPPORTED', message, details);
  }
}
