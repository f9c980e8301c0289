/** No request ends the process that answers it: with `train --view` that is the process of a training run. */
import type { ServerResponse } from 'node:http';
import { messageOf } from '../core/index.ts';

/** Answers by the given function; where that fails with 500, or by breaking off an answer that has begun. Never throws. */
export async function guardedAnswer(response: ServerResponse, answer: () => void | Promise<void>): Promise<void> {
  try {
    await answer();
  } catch (error) {
    if (response.headersSent) response.destroy();
    else refuse(response, `the view could not answer: ${messageOf(error)}\n`);
  }
}

function refuse(response: ServerResponse, body: string): void {
  response.writeHead(500, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body), // also in place of one that the failed answer has set
    'cache-control': 'no-store',
  });
  response.end(body);
}
