/** What every command on indexes promises on its help page. */
import { describe, expect, it } from 'vitest';
import { createContext } from '../../src/cli/context.ts';
import { fakeHost } from './fake-host.ts';
import { INDEX_COMMANDS, lzero } from './index-commands.ts';

const context = createContext(fakeHost().host, { json: false, quiet: false, verbose: false });
const NAMES = INDEX_COMMANDS.map((make) => make(context).name());

describe.each(NAMES)('lzero %s --help', (name) => {
  it('says what it does, what it takes, and shows an example', async () => {
    const { exitCode, stdout } = await lzero(name, '--help');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Usage: lzero ${name} .*\n\n\\S`));
    expect(stdout).toContain('--json');
    expect(stdout).toMatch(new RegExp(`\nExamples:\n  \\$ lzero ${name} `));
  });
});
