import { expect, it } from 'vitest';
import { fakeHost } from '../../test/cli/fake-host.ts';
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
