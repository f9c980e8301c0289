/**
 * GET over loopback, with as little processor time as Node allows: plain sockets that are kept, a request at a time on each.
 * Whoever loads a server on the same cores takes from it what it takes itself.
 */
import { connect, type Socket } from 'node:net';

/** What came back; status 0 where the connection ended before an answer. */
export type Reply = { readonly status: number; readonly head: string; readonly body: Buffer };

const NO_REPLY: Reply = { status: 0, head: '', body: Buffer.alloc(0) };
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** A client of one server. Close it. */
export class HttpClient {
  readonly #port: number;
  readonly #maxSockets: number;
  readonly #idle: Connection[] = [];
  readonly #waiting: ((connection: Connection) => void)[] = [];
  #numOpen = 0;

  constructor(url: string, maxSockets = 512) {
    this.#port = Number(new URL(url).port);
    this.#maxSockets = maxSockets;
  }

  /** Asks for a path; waits for a socket where all are in use. */
  async get(path: string): Promise<Reply> {
    const connection = await this.#take();
    const text = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`;
    const wasKept = connection.isKept;
    const reply = await connection.ask(text);
    this.#giveBack(connection);
    // A server may end a connection that was idle just when it is used again: every client then asks once more.
    return reply === NO_REPLY && wasKept ? await this.get(path) : reply;
  }

  /** Ends the sockets that nobody uses. */
  close(): void {
    for (const connection of this.#idle.splice(0)) connection.end();
  }

  #take(): Connection | Promise<Connection> {
    const idle = this.#idle.pop();
    if (idle && !idle.hasEnded) return idle;
    if (idle) this.#numOpen--;
    if (this.#numOpen >= this.#maxSockets) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#numOpen++;
    return new Connection(this.#port);
  }

  #giveBack(connection: Connection): void {
    const next = this.#waiting.shift();
    const usable = connection.hasEnded && next ? new Connection(this.#port) : connection;
    if (next) next(usable);
    else this.#idle.push(usable);
  }
}

class Connection {
  readonly #socket: Socket;
  #received: Buffer[] = [];
  #done: (reply: Reply) => void = () => {};
  hasEnded = false;
  /** Whether it has brought an answer before. */
  isKept = false;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1').setNoDelay();
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.on('error', () => {}); // 'close' follows
    this.#socket.on('close', () => {
      this.hasEnded = true;
      this.#done(NO_REPLY);
    });
  }

  ask(text: string): Promise<Reply> {
    return new Promise((resolve) => {
      this.#done = resolve;
      if (this.hasEnded) resolve(NO_REPLY);
      else this.#socket.write(text);
    });
  }

  end(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received.push(chunk);
    const bytes = this.#received.length === 1 ? chunk : Buffer.concat(this.#received);
    const headEnd = bytes.indexOf(END_OF_HEAD);
    if (headEnd < 0) return;
    const head = bytes.toString('latin1', 0, headEnd);
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    if (length === undefined) throw new Error(`an answer without a length: ${head}`);
    const bodyStart = headEnd + END_OF_HEAD.length;
    if (bytes.length < bodyStart + Number(length)) return;
    this.#received = [];
    this.isKept = true;
    if (/\r\nconnection: close/i.test(head)) this.hasEnded = true;
    this.#done({ status: Number(head.slice(9, 12)), head, body: bytes.subarray(bodyStart) });
  }
}
