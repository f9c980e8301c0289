import { readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeConfig, copyOfGolden, encodeAll, goldenFolder } from '../../test/golden/model/fixtures.ts';
import { CheckpointError } from '../core/index.ts';
import { Checkpoint, TIED, WORD_EMBEDDINGS } from './checkpoint.ts';
import type { EncodedDocument } from './encode.ts';
import { loadModel } from './model.ts';
import { DECODER, DECODER_BIAS, distilBertName, MLM_BIAS } from './tensor-names.ts';
import { openSafetensors } from './tensors/safetensors.ts';
import { type TensorToWrite, writeSafetensors } from './tensors/safetensors-writer.ts';

let copy: ReturnType<typeof copyOfGolden>;
beforeEach(() => {
  copy = copyOfGolden('untied');
});
afterEach(() => copy.remove());

/** Writes the copy's weights again, changed. */
async function rewrite(change: (tensors: Map<string, TensorToWrite>) => void): Promise<void> {
  const path = join(copy.folder, 'model.safetensors');
  const file = await openSafetensors(path);
  const tensors = new Map<string, TensorToWrite>();
  for (const [name, { shape }] of file.tensors)
    tensors.set(name, { name, dtype: 'F32', shape, values: await file.readFloat32(name) });
  await file.close();
  change(tensors);
  await writeSafetensors(path, tensors.values());
}

/** Gives every tensor of the copy another name; undefined takes it out. */
async function rename(newName: (name: string) => string | undefined): Promise<void> {
  await rewrite((tensors) => {
    for (const [name, tensor] of [...tensors]) {
      const other = newName(name);
      tensors.delete(name);
      if (other !== undefined) tensors.set(other, { ...tensor, name: other });
    }
  });
}

/** Opens the copy and closes it again. */
async function opened<T>(use: (checkpoint: Checkpoint) => T | Promise<T>): Promise<T> {
  const checkpoint = await Checkpoint.open(copy.folder);
  try {
    return await use(checkpoint);
  } finally {
    await checkpoint.close();
  }
}

function readConfig(): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(copy.folder, 'config.json'), 'utf8'));
}

function writeConfig(config: Readonly<Record<string, unknown>>): void {
  writeFileSync(join(copy.folder, 'config.json'), JSON.stringify(config));
}

async function refusal(): Promise<Error> {
  const error: unknown = await opened(() => undefined).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CheckpointError);
  return error instanceof Error ? error : new Error('opened');
}

/** Encodes one text with the copy: the way on which weights are read. */
async function encodeWithCopy(): Promise<EncodedDocument[]> {
  const model = await loadModel(copy.folder, { idf: 'none' });
  try {
    return await encodeAll(model, ['the river was cold']);
  } finally {
    await model.close();
  }
}

describe('a checkpoint', () => {
  it('has a decoder and bias of its own where they were saved untied', () =>
    opened((checkpoint) => {
      expect(checkpoint.head).toBe('mlm');
      expect(checkpoint.decoderName).toBe('cls.predictions.decoder.weight');
      expect(checkpoint.decoderBiasName).toBe('cls.predictions.decoder.bias');
      expect(checkpoint.usedNames).toContain('cls.predictions.decoder.bias');
    }));

  it('decodes with its word embeddings and cls.predictions.bias where they are tied', async () => {
    const checkpoint = await Checkpoint.open(goldenFolder('tied'));
    expect(checkpoint.decoderName).toBe(WORD_EMBEDDINGS);
    expect(checkpoint.decoderBiasName).toBe('cls.predictions.bias');
    await checkpoint.close();
  });

  it('saved from BertModel, without "bert." and head, is read under the same names', async () => {
    const before = await opened((checkpoint) => checkpoint.read(WORD_EMBEDDINGS));
    await rename((name) => (name.startsWith('bert.') ? name.slice('bert.'.length) : undefined));
    await opened(async (checkpoint) => {
      expect(checkpoint.head).toBe('none');
      expect(await checkpoint.read(WORD_EMBEDDINGS)).toEqual(before);
    });
    await expect(encodeWithCopy()).rejects.toThrow('has no MLM head');
  });

  it('from TensorFlow, with gamma and beta in place of weight and bias, gives the same vectors', async () => {
    const before = await encodeWithCopy();
    await rename((name) =>
      name.replace('.LayerNorm.weight', '.LayerNorm.gamma').replace('.LayerNorm.bias', '.LayerNorm.beta'),
    );
    expect(await encodeWithCopy()).toEqual(before);
  });

  it.each(['module.', '0.auto_model.'])(
    'saved inside of another module, with %s before each name, gives the same vectors',
    async (prefix) => {
      const before = await encodeWithCopy();
      await rename((name) => prefix + name);
      expect(await encodeWithCopy()).toEqual(before);
    },
  );

  it('of DistilBERT is a BERT whose token types add nothing', async () => {
    await rewrite((tensors) => tensors.get('bert.embeddings.token_type_embeddings.weight')?.values.fill(0));
    const before = await encodeWithCopy();
    await rename((name) => {
      if (name.includes('token_type') || name === MLM_BIAS) return undefined;
      return name === DECODER_BIAS ? 'vocab_projector.bias' : distilBertName(name);
    });
    const { hidden_size, num_hidden_layers, num_attention_heads, intermediate_size } = readConfig();
    writeConfig({
      ...{ model_type: 'distilbert', dim: hidden_size, n_layers: num_hidden_layers, n_heads: num_attention_heads },
      ...{ hidden_dim: intermediate_size, vocab_size: 277, max_position_embeddings: 48, tie_word_embeddings: false },
    });
    expect(await encodeWithCopy()).toEqual(before);
  });

  it.each(['bert.pooler.dense.weight', 'bert.embeddings.position_ids', 'cls.seq_relationship.bias'])(
    'may have %s, which nothing reads',
    async (name) => {
      await rewrite((tensors) => tensors.set(name, { name, dtype: 'F32', shape: [1], values: new Float32Array(1) }));
      expect(await opened((checkpoint) => checkpoint.usedNames)).not.toContain(name);
    },
  );

  it('without a bias in its MLM head has one of zeros', async () => {
    await rewrite((tensors) => tensors.get(DECODER_BIAS)?.values.fill(0));
    const before = await encodeWithCopy();
    await rename((name) => (name === MLM_BIAS || name === DECODER_BIAS ? undefined : name));
    await opened(async (checkpoint) => {
      expect(checkpoint.head).toBe('mlm');
      expect(checkpoint.decoderBiasName).toBe(MLM_BIAS);
      expect(checkpoint.usedNames).toContain(MLM_BIAS);
      expect(checkpoint.entry(MLM_BIAS)).toEqual({ dtype: 'F32', shape: [277], place: undefined });
      expect(checkpoint.place(MLM_BIAS)).toBeUndefined();
      expect(await checkpoint.read(MLM_BIAS)).toEqual(new Float32Array(277));
    });
    expect(await encodeWithCopy()).toEqual(before);
  });

  it.skipIf(process.platform === 'win32')('may be a link into another folder, as in a hub cache', async () => {
    const before = await encodeWithCopy();
    const [path, blob] = [
      join(copy.folder, 'model.safetensors'),
      join(copy.folder, '..', `${basename(copy.folder)}.blob`),
    ];
    renameSync(path, blob);
    symlinkSync(blob, path);
    expect(await encodeWithCopy()).toEqual(before);
    rmSync(blob);
  });
});

describe('a network with more rows than the tokenizer has tokens', () => {
  it('gives no weight to the rows that only fill it up', async () => {
    const before = await encodeWithCopy();
    const lines = readFileSync(join(copy.folder, 'vocab.txt'), 'utf8').trimEnd().split('\n');
    writeFileSync(join(copy.folder, 'vocab.txt'), `${lines.slice(0, -1).join('\n')}\n`);
    const [{ vector }] = await encodeWithCopy();
    const kept = [...before[0].vector.terms].filter((term) => term < lines.length - 1);
    expect([...vector.terms]).toEqual(kept);
  });
});

describe('a model folder that is not there', () => {
  it.each([
    ['/no/such/folder', 'does not exist'],
    ['', 'does not exist'],
    [import.meta.filename, 'is not a folder'],
  ])('%j is named', async (folder, words) => {
    await expect(loadModel(folder)).rejects.toThrow(words);
  });
});

describe('a bad checkpoint is refused with CheckpointError', () => {
  const MISSING = ['bert.encoder.layer.1.output.dense.weight', 'bert.embeddings.LayerNorm.bias', WORD_EMBEDDINGS];
  it.each(MISSING)('without %s, which it names', async (name) => {
    await rewrite((tensors) => tensors.delete(name));
    expect((await refusal()).message).toMatch(/model\.safetensors: the tensor .* is missing/);
  });

  it('with a tensor of another shape: both shapes are named', async () => {
    changeConfig(copy.folder, { intermediate_size: 25 });
    expect((await refusal()).message).toContain(
      'bert.encoder.layer.0.intermediate.dense.weight has shape [24, 16], config.json asks for [25, 16]',
    );
  });

  it.each(['cls.predictions.decoder.weight', 'cls.predictions.decoder.bias'])('with %s too short', async (name) => {
    await rewrite((tensors) => tensors.set(name, { name, dtype: 'F32', shape: [1], values: new Float32Array(1) }));
    expect((await refusal()).message).toContain(`${name} has shape [1]`);
  });

  it('with a tied head that is not whole', async () => {
    const bias = { name: TIED.bias, dtype: 'F32', shape: [277], values: new Float32Array(277) } as const;
    await rewrite((tensors) => tensors.set(TIED.bias, bias));
    expect((await refusal()).message).toContain(`${TIED.scale} is missing`);
  });

  it('with a matrix of a pooled head that is not square', async () => {
    const head = (name: string, ...shape: number[]) => {
      const values = new Float32Array(shape.reduce((a, b) => a * b));
      return { name, dtype: 'F32', shape, values } as const;
    };
    await rewrite((tensors) => {
      for (const tensor of [
        head(TIED.bias, 277),
        head(TIED.scale, 1),
        head(TIED.inputShare, 1),
        head(TIED.pooled, 16, 15),
      ])
        tensors.set(tensor.name, tensor);
    });
    expect((await refusal()).message).toContain(`${TIED.pooled} has shape [16, 15], config.json asks for [16, 16]`);
  });

  it('with more layers in config.json than in the file', async () => {
    changeConfig(copy.folder, { num_hidden_layers: 3 });
    expect((await refusal()).message).toContain('bert.encoder.layer.2');
  });

  it('with fewer layers in config.json than in the file', async () => {
    changeConfig(copy.folder, { num_hidden_layers: 1 });
    expect((await refusal()).message).toContain('config.json only 1 layers');
  });

  it('cut short by a byte', async () => {
    const path = join(copy.folder, 'model.safetensors');
    truncateSync(path, readFileSync(path).length - 1);
    expect((await refusal()).message).toContain('model.safetensors');
  });

  it('that is another kind of file under its name', async () => {
    writeFileSync(join(copy.folder, 'model.safetensors'), 'version https://git-lfs.github.com/spec/v1\noid sha256:…\n');
    await refusal();
  });

  it.each(['config.json', 'model.safetensors'])('without %s', async (name) => {
    rmSync(join(copy.folder, name));
    expect((await refusal()).message).toContain(name);
  });

  it('whose pytorch_model.bin is none, which it names', async () => {
    renameSync(join(copy.folder, 'model.safetensors'), join(copy.folder, 'pytorch_model.bin'));
    expect((await refusal()).message).toContain('pytorch_model.bin');
  });

  it('untied by its config.json, without the decoder: transformers would take a random one', async () => {
    await rename((name) => (name === DECODER ? undefined : name));
    expect((await refusal()).message).toMatch(/cls\.predictions\.decoder\.weight is missing.*tie_word_embeddings/);
    changeConfig(copy.folder, { tie_word_embeddings: true });
    expect(await opened((checkpoint) => checkpoint.decoderName)).toBe(WORD_EMBEDDINGS);
  });

  it.each([
    'bert.encoder.layer.0.attention.self.query.lora_A.weight',
    'bert.encoder.layer.1.crossattention.self.key.bias',
    'bert.embeddings.extra_embeddings.weight',
  ])('with %s, which is no part of BERT', async (name) => {
    await rewrite((tensors) => tensors.set(name, { name, dtype: 'F32', shape: [1], values: new Float32Array(1) }));
    expect((await refusal()).message).toContain(`has the tensor "${name}", which is no part of BERT`);
  });

  it('of DistilBERT with token types', async () => {
    changeConfig(copy.folder, { model_type: 'distilbert', dim: 16, n_layers: 2, n_heads: 2, hidden_dim: 24 });
    expect((await refusal()).message).toMatch(/token_type_embeddings\.weight", which is no part of DistilBERT/);
  });

  it('with two encoders in one file', async () => {
    await rewrite((tensors) => {
      for (const [name, tensor] of [...tensors]) tensors.set(`query.${name}`, { ...tensor, name: `query.${name}` });
    });
    expect((await refusal()).message).toMatch(/has both .* and .*: the same part of two networks/);
  });

  it('whose tokenizer has more tokens than the network, when it is loaded', async () => {
    writeFileSync(join(copy.folder, 'vocab.txt'), `${readFileSync(join(copy.folder, 'vocab.txt'), 'utf8')}extra\n`);
    await expect(encodeWithCopy()).rejects.toThrow(/tokenizer has 278 tokens, the network only 277/);
  });

  it('whose finite weights overflow, when a document meets them', async () => {
    await rewrite((tensors) => tensors.get('cls.predictions.transform.LayerNorm.weight')?.values.fill(3e38));
    await expect(encodeWithCopy()).rejects.toThrow('not finite');
  });

  it('with a NaN among its weights, when it is loaded to encode: tensor and place are named', async () => {
    const path = join(copy.folder, 'model.safetensors');
    const place = await opened((checkpoint) => checkpoint.place('bert.encoder.layer.0.output.dense.bias'));
    const { offset } = place ?? { offset: Number.NaN };
    const bytes = readFileSync(path);
    bytes.writeFloatLE(Number.NaN, offset + 8);
    writeFileSync(path, bytes);
    await expect(encodeWithCopy()).rejects.toThrow(CheckpointError);
    await expect(encodeWithCopy()).rejects.toThrow(/layer\.0\.output\.dense\.bias.*value 2/);
  });
});
