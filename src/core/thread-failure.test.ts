import { describe, expect, it } from 'vitest';
import { ConfigError, forSetting, InputError, InterruptedError, LzeroError } from './errors.ts';
import { errorFrom, failureOf } from './thread-failure.ts';

/** What a message between threads keeps of a value. */
function across<T>(value: T): T {
  return structuredClone(value);
}

describe('errors that cross threads', () => {
  it.each([
    new ConfigError('line 3: unknown key', { hint: 'did you mean lambda?' }),
    new InterruptedError(),
    new LzeroError('COLLAPSE', 'documents have no terms', { hint: 'lower sparsity.lambda' }),
  ])('%s stays what it is: kind, code, message, hint, and where it came from', (error) => {
    const arrived = errorFrom(across(failureOf(error, 'THREAD')));
    expect(arrived.constructor).toBe(error.constructor);
    expect(arrived).toMatchObject({ code: error.code, message: error.message, hint: error.hint });
    expect(arrived.cause).toMatchObject({ stack: error.stack });
  });

  it('the setting that is to blame comes along', async () => {
    const error = await forSetting(['data', 'train', 0, 'path'], () => {
      throw new InputError('a.jsonl does not exist');
    }).catch((thrown: unknown) => thrown);
    expect(errorFrom(across(failureOf(error, 'THREAD'))).setting).toEqual(['data', 'train', 0, 'path']);
  });

  it('the errors underneath come along, each once, also where they lead back to the first', () => {
    const below = new Error('the disk is full');
    const error = new ConfigError('cannot be written', { cause: below });
    below.cause = error;
    const { stack } = failureOf(error, 'THREAD');
    expect(stack).toBe(`${error.stack}\ncaused by: ${below.stack}`);
  });

  it('an error that is not ours gets the code of the thread, even with fields that cannot cross', () => {
    const error = Object.assign(new TypeError('x is not a function'), { callback: () => {} });
    expect(errorFrom(across(failureOf(error, 'THREAD')))).toMatchObject({
      code: 'THREAD',
      message: 'x is not a function',
    });
    expect(errorFrom(failureOf('no error at all', 'THREAD')).message).toBe('no error at all');
  });
});
