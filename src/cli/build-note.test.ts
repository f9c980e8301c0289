import { describe, expect, it } from 'vitest';
import { silentLogger } from '../core/index.ts';
import type { UserState } from '../store/index.ts';
import { buildStates, EVAL_STATES, isUnfinished, noteOf, warnIfUnfinished } from './build-note.ts';

const index = buildStates({ input: 'corpus.jsonl' });

function warnings(userState: UserState): string {
  const lines: string[] = [];
  warnIfUnfinished({ ...silentLogger, warn: (text) => lines.push(text) }, { folder: 'my.index', userState });
  return lines.join('\n');
}

describe('the note of a build', () => {
  it.each([
    ['lzero index', index.unfinished],
    ['lzero eval', EVAL_STATES.unfinished],
  ])('that %s was stopped says so, and which command goes on', (command, userState) => {
    expect(isUnfinished({ userState })).toBe(true);
    expect(warnings(userState)).toMatch(
      new RegExp(
        `my.index is unfinished: \`${command}\` was stopped.*\\nhint: run the same \`${command}\` command again`,
      ),
    );
  });

  it.each([[index.finished], [EVAL_STATES.finished], [null], [{ mine: 1 }], ['anything']])(
    'is nothing to warn of: %j',
    (userState) => {
      expect(isUnfinished({ userState })).toBe(false);
      expect(warnings(userState)).toBe('');
    },
  );

  it('names what was built, where it was `lzero index`', () => {
    expect(noteOf(index.unfinished)).toEqual({ job: { input: 'corpus.jsonl' }, finished: false });
    expect(noteOf(EVAL_STATES.unfinished).job).toBeUndefined();
  });
});
