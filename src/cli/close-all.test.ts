import { describe, expect, it } from 'vitest';
import { closeAll } from './close-all.ts';

describe('closeAll', () => {
  it('closes all systems although some fail to, and throws the first failure', async () => {
    const closed: string[] = [];
    const system = (name: string, failure?: Error) => ({
      close: async (): Promise<void> => {
        closed.push(name);
        if (failure) throw failure;
      },
    });
    const systems = [system('a'), system('b', new Error('of b')), system('c', new Error('of c')), system('d')];
    await expect(closeAll(systems)).rejects.toThrow('of b');
    expect(closed).toEqual(['a', 'b', 'c', 'd']);
    await closeAll([system('e')]);
  });
});
