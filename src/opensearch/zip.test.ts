import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { unzip } from '../download/index.ts';
import { zip } from './zip.ts';

const folder = mkdtempSync(join(tmpdir(), 'lzero-zip-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('an archive', () => {
  const files = [
    { name: 'tokenizer.json', content: Buffer.from('{"a": 1}'.repeat(1000)) },
    { name: 'empty', content: Buffer.alloc(0) },
    { name: 'ünïcode.json', content: Buffer.from([0, 1, 2, 255]) },
  ];

  it('is unpacked to the very files, checksums included', async () => {
    const path = join(folder, 'a.zip');
    writeFileSync(path, zip(files));
    await unzip(path, join(folder, 'out'));
    for (const { name, content } of files) expect(readFileSync(join(folder, 'out', name))).toEqual(content);
  });

  it('has the same bytes whenever it is written, and packs', () => {
    expect(zip(files)).toEqual(zip(files));
    expect(zip(files).length).toBeLessThan(1000);
  });
});
