/** The Python that LZERO_PYTHON names, for tests that hold us against its libraries. */
import { spawnSync } from 'node:child_process';

/** A Python to use, or why there is none, to be put behind the name of a suite. */
export type PythonForTests = { readonly python: string | undefined; readonly why: string };

/** The Python, if it has these modules. */
export function pythonWith(...modules: readonly string[]): PythonForTests {
  const python = process.env.LZERO_PYTHON;
  if (!python) return { python, why: ` (skipped: LZERO_PYTHON does not name a Python with ${modules.join(', ')})` };
  const program = 'import sys, importlib.util as u; sys.exit(any(u.find_spec(m) is None for m in sys.argv[1:]))';
  const hasAll = spawnSync(python, ['-c', program, ...modules]).status === 0;
  if (hasAll) return { python, why: '' };
  return { python: undefined, why: ` (skipped: the Python of LZERO_PYTHON lacks one of ${modules.join(', ')})` };
}
