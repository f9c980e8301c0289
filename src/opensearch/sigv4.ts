/**
 * Requests signed as AWS wants them, Signature Version 4, for OpenSearch Service (`es`) and its serverless kind (`aoss`).
 *
 *     canonical = METHOD \n path \n query \n headers \n\n names of headers \n sha256(body)
 *     string    = AWS4-HMAC-SHA256 \n time \n scope \n sha256(canonical)           scope = day/region/service/aws4_request
 *     key       = hmac(hmac(hmac(hmac("AWS4" + secret, day), region), service), "aws4_request")
 *     signature = hex(hmac(key, string))
 *
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html. Held against signatures of AWS's
 * own test suite; no service of AWS has been asked.
 */
import { createHash, createHmac } from 'node:crypto';
import type { SignRequest } from './http.ts';

/** Who signs, and for what. */
export type SigV4Options = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined;
  /** Such as eu-central-1. */
  readonly region: string;
  /** `es`, or `aoss` for serverless; `es` where left out. */
  readonly service?: string | undefined;
  /** The time: signatures are good for some minutes. */
  readonly now: () => Date;
};

/** Signs each request as it is sent: give it to `Server` as `sign`. */
export function sigV4(options: SigV4Options): SignRequest {
  const { region, service = 'es' } = options;
  const sessionToken = options.sessionToken || undefined; // an empty one of the environment is none
  return ({ method, url, body = '' }) => {
    const { host, pathname, searchParams } = new URL(url);
    const time = options
      .now()
      .toISOString()
      .replace(/[-:]|\.\d+/g, ''); // 20150830T123600Z
    const bodyHash = sha256(body);
    const headers: Record<string, string> = {
      host,
      ...(service === 'aoss' ? { 'x-amz-content-sha256': bodyHash } : {}),
      'x-amz-date': time,
      ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
    }; // by name
    const names = Object.keys(headers).join(';');
    const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
    const canonical = [method, canonicalPath(pathname), canonicalQuery(searchParams), lines.join(''), names, bodyHash];
    const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`;
    const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical.join('\n'))].join('\n');
    const signature = hmac(signingKey(options.secretAccessKey, scope), text).toString('hex');
    const { host: _, ...sent } = headers; // the client writes that one itself
    const credential = `${options.accessKeyId}/${scope}`;
    const authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`;
    return { ...sent, authorization };
  };
}

/** The parts of the scope, one key within the other. */
function signingKey(secret: string, scope: string): Buffer {
  return scope.split('/').reduce<Buffer>((key, part) => hmac(key, part), Buffer.from(`AWS4${secret}`));
}

/** What is sent is encoded, and is encoded once more: all services but S3 do so. */
function canonicalPath(path: string): string {
  return path.split('/').map(encoded).join('/');
}

function canonicalQuery(parameters: URLSearchParams): string {
  const pairs = [...parameters].map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return pairs.sort().join('&');
}

/** RFC 3986: all but letters, digits and -._~ */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
