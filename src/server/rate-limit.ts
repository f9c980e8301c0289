/** So many requests a second for each client, with a little saved up for bursts. Knows nothing of HTTP but the refusal. */
import { ConfigError } from '../core/index.ts';
import { tooMany } from './request-error.ts';

/** Clients that are remembered; one that was forgotten begins anew. */
const MAX_CLIENTS = 10_000;
/** Seconds of silence that may be saved up. */
const BURST_SECONDS = 2;
/** 16-bit groups of an IPv6 address that name a network: one client has all addresses of its own. */
const NETWORK_GROUPS = 4;

/** What a client may still ask, as of some moment. */
type Allowance = { readonly left: number; readonly atMs: number };

/** Counts by client. */
export class RateLimit {
  readonly #perSecond: number;
  readonly #most: number;
  readonly #clock: () => number;
  /** A Map keeps the order of insertion: the first is the client that has been silent longest. */
  readonly #clients = new Map<string, Allowance>();

  /** @param clock gives milliseconds */
  constructor(perSecond: number, clock: () => number = () => performance.now()) {
    if (!(perSecond > 0 && Number.isFinite(perSecond)))
      throw new ConfigError(`a rate is a number of requests a second above 0, got ${perSecond}`);
    this.#perSecond = perSecond;
    this.#most = Math.max(1, perSecond * BURST_SECONDS);
    this.#clock = clock;
  }

  /** Clients that are remembered. */
  get numClients(): number {
    return this.#clients.size;
  }

  /** Counts a request; throws where the client has sent too many, with the time after which the next is welcome. */
  take(client: string): void {
    const left = this.#leftOf(client);
    this.#remember(client, left < 1 ? left : left - 1);
    if (left < 1) throw tooMany(this.#perSecond, (1 - left) / this.#perSecond);
  }

  #leftOf(client: string): number {
    const known = this.#clients.get(client);
    if (!known) return this.#most;
    const seconds = (this.#clock() - known.atMs) / 1000;
    return Math.min(this.#most, known.left + seconds * this.#perSecond);
  }

  #remember(client: string, left: number): void {
    this.#clients.delete(client);
    this.#clients.set(client, { left, atMs: this.#clock() });
    if (this.#clients.size <= MAX_CLIENTS) return;
    const [silent] = this.#clients.keys();
    this.#clients.delete(silent);
  }
}

/** Whom an address stands for: itself, or its network where it is IPv6. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped) return mapped[1];
  if (!address.includes(':')) return address;
  const [head, tail = ''] = address.split('%')[0].toLowerCase().split('::');
  const groups = [head, tail].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array.from({ length: Math.max(0, 8 - groups[0].length - groups[1].length) }, () => '0');
  return [...groups[0], ...zeros, ...groups[1]].slice(0, NETWORK_GROUPS).join(':');
}
