/** What a page and its worker say to each other, as plain data. */
import type { ThreadFailure } from '../core/index.ts';
import type { EngineAnswer, EngineOptions } from './engine.ts';
import type { SiteManifest } from './manifest.ts';

/** From the page. `base` is the address of the site's folder. */
export type PageMessage =
  | { readonly kind: 'open'; readonly base: string; readonly manifest: SiteManifest }
  | { readonly kind: 'search'; readonly number: number; readonly text: string; readonly options: EngineOptions }
  | { readonly kind: 'abort'; readonly number: number };

/** From the worker; without a number it is about opening. */
export type WorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'opened'; readonly degraded: readonly string[] }
  | {
      readonly kind: 'answer';
      readonly number: number;
      readonly answer: EngineAnswer;
      readonly degraded: readonly string[];
    }
  | { readonly kind: 'failed'; readonly number?: number | undefined; readonly failure: ThreadFailure };
