import { describe, expect, it } from 'vitest';
import { fakeHost } from '../../test/cli/fake-host.ts';
import { json, startFake } from '../../test/opensearch/fake-server.ts';
import { silentLogger } from '../core/index.ts';
import { serverOf } from './opensearch-options.ts';

it('OpenSearch Serverless, which lacks what we ask for, is refused before anything is sent', async () => {
  const { host } = fakeHost();
  const context = { env: host.env, logger: silentLogger, signal: host.signal };
  const options = { awsRegion: 'eu-central-1', awsService: 'aoss' };
  await expect(serverOf(context, { url: 'https://x.aoss.amazonaws.com' }, options)).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('Serverless'),
  });
});

describe('signing for AWS', () => {
  const KEYS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' };
  const signatureFor = async (
    env: Readonly<Record<string, string>>,
    options: { awsRegion?: string; awsService?: string },
  ) => {
    const fake = await startFake(json({ ok: 1 }));
    const { host } = fakeHost({ env: { ...KEYS, ...env } });
    const context = { env: host.env, logger: silentLogger, signal: host.signal };
    try {
      const server = await serverOf(context, { url: fake.url }, options);
      await server.ask({ method: 'GET', path: '/' });
      server.close();
    } finally {
      await fake.stop();
    }
    return fake.asked[0].authorization ?? '';
  };

  it('takes the region of --aws-region, or with --aws-service that of AWS_REGION', async () => {
    expect(await signatureFor({ AWS_REGION: 'us-east-1' }, { awsRegion: 'eu-central-1' })).toContain(
      '/eu-central-1/es/',
    );
    expect(await signatureFor({ AWS_REGION: 'us-east-1' }, { awsService: 'other' })).toContain('/us-east-1/other/');
    expect(await signatureFor({ AWS_REGION: 'us-east-1' }, {})).not.toContain('AWS4');
  });

  it('is refused where --aws-service has no region', async () => {
    await expect(signatureFor({}, { awsService: 'es' })).rejects.toMatchObject({
      code: 'USAGE',
      hint: expect.stringContaining('--aws-region'),
    });
  });

  it('leaves out an empty session token', async () => {
    const options = { awsRegion: 'eu-central-1' };
    expect(await signatureFor({ AWS_SESSION_TOKEN: '' }, options)).not.toContain('x-amz-security-token');
    expect(await signatureFor({ AWS_SESSION_TOKEN: 't' }, options)).toContain('x-amz-security-token');
  });
});
