import { describe, expect, it } from 'vitest';
import {
  assert,
  ConfigError,
  errorCode,
  forSetting,
  InterruptedError,
  LzeroError,
  MissingDependencyError,
  messageOf,
  OutputError,
  ShapeError,
} from './errors.ts';

describe('errors', () => {
  it('carry a stable code, a message, a hint and a cause', () => {
    const cause = new Error('underneath');
    const error = new MissingDependencyError('no engine', { hint: 'npm install it', cause });
    expect(error).toMatchObject({
      name: 'MissingDependencyError',
      code: 'MISSING_DEPENDENCY',
      message: 'no engine',
      hint: 'npm install it',
      cause,
    });
  });

  it('have neither hint nor cause where none is given', () => {
    const error = new ConfigError('wrong');
    expect(error.hint).toBeUndefined();
    expect('cause' in error).toBe(false);
  });

  it('are blamed on the innermost setting that they came from; an interruption on none', async () => {
    const blamed = async (error: Error) => {
      const fail = () => Promise.reject(error);
      await forSetting(['data'], () => forSetting(['data', 'train'], fail)).catch(() => {});
      return error instanceof LzeroError ? error.setting : undefined;
    };
    expect(await blamed(new ConfigError('wrong'))).toEqual(['data', 'train']);
    expect(await blamed(new InterruptedError())).toBeUndefined();
    expect(await forSetting(['data'], () => 7)).toBe(7);
  });

  it('can be caught as one kind or as the base', () => {
    const error = new ShapeError('3 is not 4');
    expect(error).toBeInstanceOf(ShapeError);
    expect(error).toBeInstanceOf(LzeroError);
    expect(error).not.toBeInstanceOf(ConfigError);
  });

  it.each([
    ['ENOSPC', 'free some disk space, or choose another folder'],
    ['EEXIST', 'there is a file of that name: choose another'],
    ['EWHATEVER', undefined],
  ])('a failed write with %s names the file, and the way out where there is one', (code, hint) => {
    const cause = Object.assign(new Error('no'), { code });
    expect(OutputError.writing('out.jsonl', cause)).toMatchObject({
      message: 'cannot write out.jsonl: no',
      hint,
      cause,
    });
  });

  it('assert says that a failure is ours', () => {
    expect(() => assert(1 + 1 === 2, 'arithmetic')).not.toThrow();
    expect(() => assert(1 + 1 === 3, 'arithmetic')).toThrow('bug: arithmetic');
  });

  it('errorCode is the name that the system gives to a failure, and nothing for the rest', () => {
    expect(errorCode(Object.assign(new Error('no'), { code: 'ENOENT' }))).toBe('ENOENT');
    for (const other of [new Error('no'), { code: 'ENOENT' }, 'ENOENT', undefined]) expect(errorCode(other)).toBe('');
  });

  it('messageOf has words for anything thrown', () => {
    expect(messageOf(new Error('a'))).toBe('a');
    expect(messageOf('b')).toBe('b');
    expect(messageOf(undefined)).toBe('undefined');
  });
});
