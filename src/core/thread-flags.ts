/**
 * Flags of a process that its threads may have, too. `--input-type`, `--eval` and `--print` are about code on the command line; a
 * thread runs a file, and ends at once where it inherits the first.
 *
 * @param execArgv process.execArgv
 */
export function threadFlags(execArgv: readonly string[]): string[] {
  const isOfCode = /^(--input-type|--eval|--print|-e$|-p$|-pe$)/;
  return execArgv.filter((flag, i) => {
    const before = execArgv[i - 1] ?? '';
    return !isOfCode.test(flag) && !(isOfCode.test(before) && !before.includes('='));
  });
}
