/** Files of text, each with sound inputs to damage. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseBertConfig } from '../../src/model/bert-config.ts';
import { parseTestVectors } from '../../src/model/check/test-vectors.ts';
import { readIdf, tokensNamedIn } from '../../src/model/query-weights.ts';
import { parseSettings } from '../../src/model/settings.ts';
import { createTokenizer, encodeQuery, noIdf, parseIdf } from '../../src/text/index.ts';
import { goldenFolder } from '../golden/model/fixtures.ts';
import { tokenizerJson } from '../golden/text/fixtures.ts';
import { mutateJson } from './mutate.ts';
import { type FuzzTarget, target, withFile } from './target.ts';

const read = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');

/** Parsers of tokenizers, settings and tables. `folder` is theirs to write in. */
export function textTargets(folder: string): FuzzTarget[] {
  const tied = goldenFolder('tied');
  const tokens = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'a', 'b', '##c', 'hello'];
  const bert = JSON.stringify(tokenizerJson(tokens));
  const vocabTxt = read(tied, 'vocab.txt');
  const tokenizer = async (source: { tokenizerJson: string } | { vocabTxt: string; tokenizerConfig?: string }) => {
    const made = await createTokenizer({ ...source, label: 'fuzz' });
    encodeQuery({ tokenizer: made, idf: noIdf(made.vocabulary) }, 'hello ab [MASK] é\u0000 中');
  };
  return [
    target('tokenizer.json', [bert, JSON.stringify(byteLevel())], {
      mutate: mutateJson,
      parse: (bytes) => tokenizer({ tokenizerJson: bytes.toString() }),
    }),
    target('vocab.txt', [vocabTxt], { parse: (bytes) => tokenizer({ vocabTxt: bytes.toString() }) }),
    target(
      'tokenizer_config.json',
      ['{"do_lower_case":true,"strip_accents":null,"tokenize_chinese_chars":true,"unk_token":"[UNK]"}'],
      {
        mutate: mutateJson,
        parse: (bytes) => tokenizer({ vocabTxt, tokenizerConfig: bytes.toString() }),
      },
    ),
    target('config.json', [read(tied, 'config.json')], {
      mutate: mutateJson,
      parse: async (bytes) => void parseBertConfig(bytes.toString(), 'config.json'),
    }),
    target('lzero.json', [read(join(import.meta.dirname, '../../models/bow'), 'lzero.json')], {
      mutate: mutateJson,
      parse: async (bytes) => void parseSettings(bytes.toString(), 'lzero.json'),
    }),
    target('idf.json', ['{"hello":1.5,"a":0,"##c":2e-3}'], {
      mutate: mutateJson,
      parse: async (bytes) => {
        const { vocabulary } = await createTokenizer({ tokenizerJson: bert, label: 'fuzz' });
        parseIdf(bytes.toString(), vocabulary, 'idf.json');
      },
    }),
    target('query_token_weights.txt', ['hello\t1.5\na\t0\n##c\t2e-3\n\nb c\t-1\n'], {
      parse: withFile(join(folder, 'query_token_weights.txt'), async (path) => {
        await readIdf(path, await createTokenizer({ tokenizerJson: bert, label: 'fuzz' }));
        await tokensNamedIn(path);
      }),
    }),
    target('test vectors', [read(join(import.meta.dirname, '../golden/check'), 'bow.json')], {
      mutate: mutateJson,
      parse: async (bytes) => void parseTestVectors(bytes.toString(), 'vectors.json'),
    }),
  ];
}

/** A tokenizer of another kind, which the library runs. */
function byteLevel(): object {
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [
      { id: 0, content: '<s>', single_word: false, lstrip: false, rstrip: false, normalized: false, special: true },
    ],
    normalizer: { type: 'NFC' },
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    post_processor: null,
    decoder: { type: 'ByteLevel' },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: '',
      end_of_word_suffix: '',
      fuse_unk: false,
      vocab: { '<s>': 0, h: 1, e: 2, l: 3, o: 4, he: 5, a: 6, b: 7 },
      merges: ['h e'],
    },
  };
}
