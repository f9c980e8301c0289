/** The topic head of the embedded model outside of its network (src/model/topic-weights.ts): for vectors that are there already. */
import { resolve } from 'node:path';
import { openTopicHead, type TopicHead } from '../../src/model/topic-head.ts';

/** The folder of the embedded model. */
export const MODEL = resolve(import.meta.dirname, '../../models/lzero-en');

/** Its head; term vectors are those of its codes. */
export function embeddedHead(): Promise<TopicHead> {
  return openTopicHead(MODEL);
}
