import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { DownloadError } from '../../core/index.ts';
import { isInside, parseListing } from './listing.ts';

const commit = 'c'.repeat(40);
const name = { id: 'o/n', revision: 'main' };
const parse = (value: unknown) => parseListing(JSON.stringify(value), name, 'http://hub');

describe('a listing', () => {
  it('gives files with the checksum that each has', () => {
    const lfs = { sha256: 'a'.repeat(64), size: 7, pointerSize: 130 };
    const { files } = parse({
      sha: commit,
      siblings: [
        { rfilename: 'config.json', size: 3, blobId: 'b'.repeat(40) },
        { rfilename: 'model.safetensors', size: 7, blobId: 'd'.repeat(40), lfs },
        { rfilename: 'unknown.txt' },
      ],
    });
    expect([...files.values()]).toEqual([
      {
        path: 'config.json',
        sizeBytes: 3,
        checksum: { kind: 'git-blob', hex: 'b'.repeat(40), sizeBytes: 3 },
      },
      { path: 'model.safetensors', sizeBytes: 7, checksum: { kind: 'sha256', hex: 'a'.repeat(64) } },
      { path: 'unknown.txt', sizeBytes: 0, checksum: undefined },
    ]);
  });

  it('leaves out files whose names lead elsewhere', () => {
    const siblings = ['../x', '/etc/passwd', 'a/../../b', 'a\\b', 'C:/x', 'a//b', 'good/file'].map((rfilename) => ({
      rfilename,
    }));
    expect([...parse({ sha: commit, siblings }).files.keys()]).toEqual(['good/file']);
  });

  it.each([
    ['<html>login</html>', /not JSON/],
    ['{}', /sha: .*siblings/],
    [JSON.stringify({ sha: '../../x', siblings: [] }), /sha: expected a commit/],
    [JSON.stringify({ sha: commit, siblings: [{ rfilename: 'a', size: -1 }] }), /siblings\.0\.size/],
    [JSON.stringify({ sha: commit, siblings: [{ rfilename: 'a', lfs: { sha256: 'xyz', size: 1 } }] }), /sha256/],
  ])('is refused of %s', (text, message) => {
    expect(() => parseListing(text, name, 'http://hub')).toThrow(message);
  });

  it('of another commit than asked for is refused', () => {
    const asked = { id: 'o/n', revision: 'd'.repeat(40) };
    expect(() => parseListing(JSON.stringify({ sha: commit, siblings: [] }), asked, 'http://hub')).toThrow(
      /is of commit/,
    );
  });

  test.prop([fc.json()])('of any JSON is files inside of their folder, or a DownloadError', (text) => {
    try {
      for (const path of parseListing(text, name, 'http://hub').files.keys()) expect(isInside(path)).toBe(true);
    } catch (error) {
      expect(error).toBeInstanceOf(DownloadError);
    }
  });
});
