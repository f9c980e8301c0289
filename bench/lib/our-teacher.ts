/**
 * A dense teacher of lzero as a contender (contender.ts): `tsx bench/lib/our-teacher.ts TEACHER`. Requests:
 *
 *     {"input": FILE}          encodes the documents of a JSON-lines file as `lzero teach` does, remembering nothing
 */
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { documentTexts, readDocuments } from '../../src/data/index.ts';
import { openScorer, parseTeacher } from '../../src/teach/index.ts';

const requestSchema = z.object({ input: z.string() });
const teacher = await openScorer(parseTeacher(process.argv[2]));

console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const { input } = requestSchema.parse(JSON.parse(line));
  const texts: string[] = [];
  for await (const { text } of documentTexts(readDocuments(input))) texts.push(text);
  const start = performance.now();
  const before = process.cpuUsage();
  await teacher.overAll(texts);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ ms, cpuMs: (user + system) / 1000 }));
}
await teacher.close();
