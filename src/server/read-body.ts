/** Bodies of requests: JSON, of a bounded size, whole. */
import { messageOf, parseJson } from '../core/index.ts';
import { badRequest, RequestError, tooLarge } from './request-error.ts';

/** Reads a body as JSON. More bytes than allowed are refused by what is declared, or as soon as they have come. */
export async function readJsonBody(request: Request, maxBytes: number): Promise<unknown> {
  requireJson(request.headers.get('content-type'));
  const declared = request.headers.get('content-length');
  if (declared !== null && Number(declared) > maxBytes) throw tooLarge(maxBytes);
  const text = await readText(request, declared === null ? maxBytes : undefined);
  return parseJson(text, (problem) => badRequest(`the body is ${problem}`));
}

/**
 * Only JSON: a page of another origin can send a form or a text without being asked, but not this (a "simple request" of
 * the Fetch standard has no such type).
 */
function requireJson(type: string | null): void {
  if (/^application\/json\s*(?:;|$)/i.test(type ?? '')) return;
  throw new RequestError(
    415,
    {
      code: 'UNSUPPORTED_TYPE',
      message: `expected a body of JSON, got ${JSON.stringify((type ?? 'none').slice(0, 100))}`,
    },
    { hint: 'send the header content-type: application/json', headers: { connection: 'close' } },
  );
}

/** @param maxBytes where the length is not declared; a declared one is kept by Node's parser */
async function readText(request: Request, maxBytes: number | undefined): Promise<string> {
  try {
    return maxBytes === undefined ? await request.text() : await readCounted(request, maxBytes);
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw badRequest(`the body did not come whole: ${messageOf(error)}`);
  }
}

async function readCounted({ body }: Request, maxBytes: number): Promise<string> {
  const reader = body?.getReader();
  const chunks: Uint8Array[] = [];
  let numBytes = 0;
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done || value === undefined) return Buffer.concat(chunks).toString('utf8');
    numBytes += value.byteLength;
    if (numBytes > maxBytes) throw tooLarge(maxBytes);
    chunks.push(value);
  }
}
