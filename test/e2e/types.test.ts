/** What a compiler says of the root entry in a project that has no types of Node and checks every declaration. */
import { resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ENTRY = resolve(import.meta.dirname, '../../dist/index.d.ts');
const TIMEOUT_MS = 120_000;

describe('the declarations of the root entry', () => {
  it(
    'compile without @types/node, with skipLibCheck off',
    () => {
      const program = ts.createProgram([ENTRY], {
        noEmit: true,
        strict: true,
        types: [],
        skipLibCheck: false,
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.NodeNext,
        moduleResolution: ts.ModuleResolutionKind.NodeNext,
      });
      const problems = ts.getPreEmitDiagnostics(program);
      expect(problems.map(({ file, messageText }) => [file?.fileName, messageText])).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
