import { describe, expect, it } from 'vitest';
import { chosenByName } from '../../runs/lib/chosen-by-name.ts';
import { setsNamed } from '../../runs/model/evaluation.ts';

const ALL = ['bow', 'ours', 'ours, network alone'].map((name) => ({ name }));

describe('what an option names', () => {
  it('is chosen in the order of all, blanks or not', () => {
    expect(chosenByName(ALL, 'ours, bow', { option: '--systems' })).toEqual([ALL[0], ALL[1]]);
    const alone = chosenByName(ALL, 'ours, network alone;bow', { option: '--systems', separator: ';' });
    expect(alone).toEqual([ALL[0], ALL[2]]);
  });

  it.each(['ors; bow; x', ''])('is known, or an error that lists what is: %j', (list) => {
    const choose = (): unknown => chosenByName(ALL, list, { option: '--systems', separator: ';' });
    expect(choose).toThrow(/^--systems: nothing is called (""|"ors", "x"); known are bow; ours; ours, network alone$/);
  });

  it('is a set of the table or the development set', () => {
    expect(setsNamed('development,scifact').map(({ name }) => name)).toEqual(['scifact', 'development']);
    expect(() => setsNamed('scifacts')).toThrow(
      /^--sets: nothing is called "scifacts"; known are .*scifact, .*development$/,
    );
  });
});
