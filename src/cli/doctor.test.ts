import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ENGINE_INSTALL_COMMAND } from '../graph/index.ts';
import { examineUses, isNewEnough, isSound, type Machine, render } from './doctor.ts';
import { cpuFlags, isWritable } from './machine.ts';

const machine: Machine = {
  node: { version: '20.19.0', ok: true },
  platform: 'linux x64',
  cpu: { model: 'a processor', flags: ['avx2'], numCores: 2 },
  memory: { totalBytes: 8e9, availableBytes: 4e9 },
  engine: {
    installed: ['onnxruntime-node'],
    used: { name: 'onnxruntime-node', version: '1.30.0', problem: undefined },
  },
  cache: { folder: '/cache', writable: true },
  embeddedModel: true,
};
const withoutEngine: Machine = { ...machine, engine: { installed: [], used: undefined } };

describe('doctor', () => {
  it('finds everything ready on a complete machine', () => {
    expect(examineUses(machine).every(({ ready }) => ready)).toBe(true);
  });

  it('names the exact command where the engine is missing, and still is content', () => {
    expect(examineUses(withoutEngine).filter(({ ready }) => !ready)).toEqual([
      { use: 'encode with a neural model', ready: false, lacks: 'the engine', fix: ENGINE_INSTALL_COMMAND },
    ]);
    expect(isSound(withoutEngine)).toBe(true);
  });

  it('tells an engine that does not load from one that is missing', () => {
    const broken: Machine = { ...machine, engine: { installed: ['onnxruntime-node'], used: undefined } };
    expect(render(broken, examineUses(broken))).toContain('onnxruntime-node installed, but does not load');
  });

  it('tells why a slower engine is used', () => {
    const used = { name: 'onnxruntime-web', version: '1.30.0', problem: 'the native one does not load: why' } as const;
    const slow: Machine = { ...machine, engine: { installed: ['onnxruntime-node', 'onnxruntime-web'], used } };
    expect(render(slow, examineUses(slow))).toContain(
      'onnxruntime-web 1.30.0, slower: the native one does not load: why\n',
    );
  });

  it('is not content with an old Node or without the embedded model', () => {
    expect(isSound({ ...machine, node: { version: '18.0.0', ok: false } })).toBe(false);
    expect(isSound({ ...machine, embeddedModel: false })).toBe(false);
  });

  it('prints facts, then what works', () => {
    expect(render(withoutEngine, examineUses(withoutEngine))).toBe(`\
node            20.19.0
platform        linux x64
cpu             a processor, 2 cores
cpu flags       avx2
memory          8.0 GB, 4.0 GB available
engine          not installed
cache           /cache
embedded model  present

What works:
  ready    search, and weigh queries with the embedded model
  missing  encode with a neural model: needs the engine; fix: ${ENGINE_INSTALL_COMMAND}
  ready    keep downloaded models
`);
  });

  it.each([
    ['20.18.9', false],
    ['20.19.0', true],
    ['22.0.0', true],
    ['18.20.0', false],
  ])('Node %s is new enough: %s', (version, ok) => expect(isNewEnough(version)).toBe(ok));
});

describe('the machine', () => {
  it.each([
    ['processor : 0\nflags\t\t: fpu avx2 avx512f avx512_vnni\n', ['avx2', 'avx512f', 'avx512_vnni']],
    ['processor : 0\nFeatures\t: fp asimd evtstrm\n', ['neon']],
    ['flags : fpu\n', []],
    ['nothing of use', undefined],
  ])('flags of %j are %j', (cpuinfo, flags) => expect(cpuFlags(cpuinfo)).toEqual(flags));

  it('a folder can be written if it can be made', async () => {
    expect(await isWritable(join(import.meta.dirname, 'absent', 'absent'))).toBe(true);
    expect(await isWritable(join(import.meta.filename, 'below-a-file'))).toBe(false);
  });
});
