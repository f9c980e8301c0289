/**
 * Which hub, and as whom: from options and the environment, in the variables that other tools of hubs know. Values of
 * tokens appear in no message.
 */
import { ConfigError } from '../../core/index.ts';
import type { FetchTextOptions } from '../../download/index.ts';

/** A hub to ask. */
export type HubSettings = {
  /** Address without a slash at its end. */
  readonly endpoint: string;
  /** Sent to the endpoint, and to nobody that it refers to. */
  readonly token: string | undefined;
  /** Whether only the cache may be used. */
  readonly isOffline: boolean;
};

/** How to ask a hub. */
export type HubRequest = Omit<FetchTextOptions, 'headers' | 'explainStatus'>;

/** What the caller chose; the environment has the rest. */
export type HubChoice = { readonly endpoint?: string | undefined; readonly offline?: boolean | undefined };

const DEFAULT_ENDPOINT = 'https://huggingface.co';

/**
 * Reads the environment:
 *
 *     HF_ENDPOINT                        another hub, or a mirror of it
 *     HF_TOKEN                           for models that need a login
 *     LZERO_OFFLINE, HF_HUB_OFFLINE      1, true, yes or on: ask nobody
 */
export function hubSettings(env: Readonly<Record<string, string | undefined>>, choice: HubChoice = {}): HubSettings {
  const isOffline = choice.offline || isOn(env.LZERO_OFFLINE) || isOn(env.HF_HUB_OFFLINE);
  return { endpoint: checkEndpoint(choice.endpoint ?? env.HF_ENDPOINT), token: checkToken(env.HF_TOKEN), isOffline };
}

function isOn(value = ''): boolean {
  return /^(?:1|true|yes|on)$/i.test(value.trim());
}

function checkEndpoint(text?: string): string {
  if (!text?.trim()) return DEFAULT_ENDPOINT;
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new ConfigError(`the address of the hub is ${JSON.stringify(text)}`, {
      hint: `expected one such as ${DEFAULT_ENDPOINT}, by --endpoint or HF_ENDPOINT`,
    });
  // Not repeated in the message: it has a password.
  if (url.username !== '' || url.password !== '')
    throw new ConfigError('the address of the hub has a user or a password in it', {
      hint: 'leave them out, and set HF_TOKEN',
    });
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** fetch would refuse other characters with a message that shows them. */
function checkToken(text?: string): string | undefined {
  const token = text?.trim();
  if (!token) return undefined;
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new ConfigError('HF_TOKEN has characters that no token has', {
    hint: 'copy it again: letters and digits only',
  });
}

/** What every request to the hub carries. */
export function hubHeaders({ token }: HubSettings): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
