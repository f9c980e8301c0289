/** Held to torch itself, where LZERO_PYTHON names a Python that has it: files that torch.save writes now. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonWith } from '../../../test/lib/python.ts';
import { openTorchFile } from './torch-file.ts';

const { python, why } = pythonWith('torch');
const folder = mkdtempSync(join(tmpdir(), 'lzero-torch-real-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Tensors of every type, shared, strided, expanded, in a Parameter, in a Module's state_dict with its metadata. */
const SCRIPT = `
import json, sys, torch
from collections import OrderedDict
folder = sys.argv[1]
torch.manual_seed(7)
base = torch.randn(40, 24)
d = OrderedDict()
for i, t in enumerate([torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16,
                       torch.int8, torch.uint8, torch.bool, torch.complex64, torch.uint16, torch.uint32, torch.uint64,
                       torch.float8_e4m3fn, torch.float8_e5m2]):
    d['type.' + str(t)] = torch.randint(0, 100, (3, 5)).to(torch.float32).to(t)
d['whole'] = base
d['tied'] = base
d['transposed'] = base.t()
d['slice'] = base[3:30:4, 5:20:3]
d['offset'] = base.reshape(-1)[100:]
d['expanded'] = torch.randn(1, 6).expand(5, 6)
d['permuted'] = torch.randn(4, 5, 6, dtype=torch.float64).permute(2, 0, 1)
d['long.strided'] = torch.arange(-20, 20).reshape(5, 8).t()
d['scalar'] = torch.tensor(1.5)
d['empty'] = torch.empty(0, 3)
d['parameter'] = torch.nn.Parameter(torch.randn(7))
for k, v in torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.LayerNorm(3)).state_dict().items(): d['net.' + k] = v
d['step'] = 3
net = torch.nn.Linear(3, 2)
opt = torch.optim.AdamW(net.parameters()); net(torch.ones(1, 3)).sum().backward(); opt.step()
wrapped = {'epoch': 1, 'state_dict': net.state_dict(), 'optimizer': opt.state_dict(), 'device': torch.device('cpu'),
           'size': torch.Size([1, 2]), 'dtype': torch.float32}
for name, options in [('zip', {}), ('zip4', {'pickle_protocol': 4}), ('legacy', {'_use_new_zipfile_serialization': False})]:
    torch.save(d, f'{folder}/{name}.bin', **options)
    torch.save(wrapped, f'{folder}/{name}-wrapped.bin', **options)
def describe(items):
    out = {}
    for k, v in items.items():
        if not isinstance(v, torch.Tensor): continue
        flat = v.detach().contiguous().reshape(-1)
        raw = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b''
        out[k] = {'shape': list(v.shape), 'hex': raw.hex()}
    return out
json.dump({'plain': describe(d), 'wrapped': describe(net.state_dict()), 'torch': torch.__version__}, open(folder + '/expected.json', 'w'))
`;

type Expected = Record<'plain' | 'wrapped', Record<string, { shape: number[]; hex: string }>>;

async function readTensors(name: string): Promise<Expected['plain']> {
  const file = await openTorchFile(join(folder, `${name}.bin`));
  try {
    const found: Expected['plain'] = {};
    for (const [key, { shape }] of file.tensors)
      found[key] = { shape: [...shape], hex: Buffer.from(await file.readBytes(key)).toString('hex') };
    return found;
  } finally {
    await file.close();
  }
}

describe.skipIf(!python)(`files that torch writes${why}`, () => {
  let expected: Expected;
  beforeAll(() => {
    const { status, stderr } = spawnSync(String(python), ['-c', SCRIPT, folder], { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    expected = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'));
  }, 120_000);

  it.each(['zip', 'zip4', 'legacy'])('%s: every tensor of every type and stride is equal to the bit', async (name) => {
    expect(Object.keys(expected.plain).length).toBeGreaterThan(25);
    expect(await readTensors(name)).toEqual(expected.plain);
    expect(await readTensors(`${name}-wrapped`)).toEqual(expected.wrapped);
  });

  it('zip: float32 tensors lie at multiples of 4, where the engine can map them', async () => {
    const file = await openTorchFile(join(folder, 'zip.bin'));
    expect((file.tensors.get('whole')?.place?.offset ?? 1) % 4).toBe(0);
    expect(file.tensors.get('transposed')?.place).toBeUndefined();
    await file.close();
  });
});
