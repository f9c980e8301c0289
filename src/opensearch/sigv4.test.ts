/** Signatures of AWS's published test suite (aws-sig-v4-test-suite): credentials, time and results are its facts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { HttpRequest } from './http.ts';
import { type SigV4Options, sigV4 } from './sigv4.ts';

const SUITE: SigV4Options = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
  service: 'service',
  now: () => new Date('2015-08-30T12:36:00Z'),
};
const TOKEN =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==';

const requestSchema = z.object({
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE', 'HEAD']),
  path: z.string(),
  body: z.string(),
  sessionToken: z.string(),
  signature: z.string(),
});
/** Made by scripts/golden-sigv4.py, with nothing of ours. */
const golden = z
  .object({ cases: z.array(requestSchema) })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../test/golden/opensearch/sigv4.json'), 'utf8')));

const signed = async (method: HttpRequest['method'], path: string, options: Partial<SigV4Options> = {}) =>
  await sigV4({ ...SUITE, ...options })({ method, path, url: `https://example.amazonaws.com${path}` });

describe('signatures', () => {
  it.each([
    ['get-vanilla', 'GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['post-vanilla', 'POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'get-vanilla-query-order-key-case',
      'GET',
      '/?Param2=value2&Param1=value1',
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
  ] as const)('%s', async (_, method, path, signature) => {
    expect(await signed(method, path)).toEqual({
      'x-amz-date': '20150830T123600Z',
      authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
    });
  });

  it('post-sts-header-before: the token of temporary credentials is signed too', async () => {
    const { authorization, 'x-amz-security-token': token } = await signed('POST', '/', { sessionToken: TOKEN });
    expect(token).toBe(TOKEN);
    expect(authorization).toMatch(
      /host;x-amz-date;x-amz-security-token, Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead$/,
    );
  });

  it.each(golden.cases)(
    '$method $path: body, path and query are signed as AWS describes it',
    async ({ method, path, body, sessionToken, signature }) => {
      const sign = sigV4({ ...SUITE, service: 'es', sessionToken });
      const { authorization } = await sign({
        method,
        path,
        url: `https://example.amazonaws.com${path}`,
        ...(body === '' ? {} : { body }),
      });
      expect(authorization).toMatch(new RegExp(`Signature=${signature}$`));
    },
  );

  it('serverless gets the hash of the body as a header that is signed', async () => {
    const headers = await signed('GET', '/docs/_search', { service: 'aoss' });
    expect(headers['x-amz-content-sha256']).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(headers.authorization).toContain('SignedHeaders=host;x-amz-content-sha256;x-amz-date');
  });
});
