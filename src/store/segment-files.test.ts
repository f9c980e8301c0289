import { describe, expect, it } from 'vitest';
import { IndexFormatError } from '../core/index.ts';
import { OpenFilesError, openFailure } from './segment-files.ts';

describe('a file that cannot be opened', () => {
  it.each(['EMFILE', 'ENFILE'])('is no damage where %s: it names the limit and what to do', (code) => {
    const error = openFailure('x/0.documents', Object.assign(new Error(`${code}: too many open files`), { code }));
    expect(error).toBeInstanceOf(OpenFilesError);
    expect(error).toMatchObject({ code: 'OPEN_FILES', hint: expect.stringContaining('ulimit -n') });
  });

  it('is a fault of the index otherwise', () => {
    const error = openFailure('x/0.documents', Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }));
    expect(error).toBeInstanceOf(IndexFormatError);
  });
});
