import { describe, expect, it } from 'vitest';
import { hubHeaders, hubSettings } from './hub-settings.ts';

describe('settings of a hub', () => {
  it('are the public one, without a token, online', () => {
    expect(hubSettings({})).toEqual({ endpoint: 'https://huggingface.co', token: undefined, isOffline: false });
  });

  it('come from the environment, an option first', () => {
    const env = { HF_ENDPOINT: 'https://mirror.example/hub/', HF_TOKEN: ' hf_abc\n' };
    expect(hubSettings(env)).toMatchObject({ endpoint: 'https://mirror.example/hub', token: 'hf_abc' });
    expect(hubSettings(env, { endpoint: 'http://127.0.0.1:8000' }).endpoint).toBe('http://127.0.0.1:8000');
    expect(hubHeaders(hubSettings(env))).toEqual({ authorization: 'Bearer hf_abc' });
    expect(hubHeaders(hubSettings({ HF_TOKEN: '  ' }))).toEqual({});
  });

  it.each([
    [{ LZERO_OFFLINE: '1' }, true],
    [{ HF_HUB_OFFLINE: 'True' }, true],
    [{ HF_HUB_OFFLINE: 'ON' }, true],
    [{ HF_HUB_OFFLINE: '0' }, false],
    [{ LZERO_OFFLINE: '' }, false],
  ])('%j: offline %s', (env, isOffline) => {
    expect(hubSettings(env).isOffline).toBe(isOffline);
    expect(hubSettings(env, { offline: true }).isOffline).toBe(true);
  });

  it.each(['ftp://hub', 'hub.example', 'https://'])('refuse the address %s', (endpoint) => {
    expect(() => hubSettings({}, { endpoint })).toThrow(/the address of the hub/);
  });

  it.each([
    { HF_ENDPOINT: 'https://me:secret@hub.example' },
    { HF_TOKEN: 'secret\nx-evil: 1' },
    { HF_TOKEN: 'sécret secret' },
  ])('show no secret of %j', (env) => {
    expect(() => hubSettings(env)).toThrow(expect.objectContaining({ code: 'CONFIG' }));
    expect(() => hubSettings(env)).not.toThrow(/secret|sécret/);
  });
});
