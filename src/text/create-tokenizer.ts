/**
 * Builds a tokenizer from the files that describe it. BERT's chain runs on our own WordPiece; any other tokenizer.json on
 * @huggingface/tokenizers (11 KB gzip), which is loaded only then. Does not open files: texts come in.
 */
import { messageOf, printable, TokenizerError } from '../core/index.ts';
import { type SpecialTokenFrame, type Tokenizer, tokenizerOf, wordPieceTokenizer } from './tokenizer.ts';
import {
  bertChain,
  parseTokenizerJson,
  settingsFromConfig,
  type TokenizerJson,
  vocabularyOf,
} from './tokenizer-json.ts';
import { parseVocabTxt } from './vocabulary.ts';
import { BERT_UNCASED } from './wordpiece.ts';

/** Contents of the files that describe a tokenizer: tokenizer.json, or vocab.txt with tokenizer_config.json. */
export type TokenizerSource = {
  /** Text of tokenizer.json; if given, the other two are not read. */
  readonly tokenizerJson?: string | undefined;
  /** Text of vocab.txt. */
  readonly vocabTxt?: string | undefined;
  /** Text of tokenizer_config.json; without it vocab.txt is taken as uncased BERT's. */
  readonly tokenizerConfig?: string | undefined;
  /** Names the source in errors: a folder or address. */
  readonly label: string;
};

/** Builds the tokenizer that the given files describe. */
export async function createTokenizer(source: TokenizerSource): Promise<Tokenizer> {
  const { tokenizerJson, vocabTxt, tokenizerConfig, label } = source;
  if (tokenizerJson !== undefined) return fromTokenizerJson(tokenizerJson, `${label}/tokenizer.json`);
  if (vocabTxt === undefined) throw new TokenizerError(`${label}: expected tokenizer.json or vocab.txt, found neither`);
  const settings =
    tokenizerConfig === undefined
      ? BERT_UNCASED
      : settingsFromConfig(tokenizerConfig, `${label}/tokenizer_config.json`);
  return wordPieceTokenizer(parseVocabTxt(vocabTxt, `${label}/vocab.txt`), { settings, label });
}

async function fromTokenizerJson(text: string, label: string): Promise<Tokenizer> {
  const json = parseTokenizerJson(text, label);
  const chain = bertChain(json, label);
  return chain ? wordPieceTokenizer(chain.vocabulary, { ...chain, label }) : libraryTokenizer(text, json, label);
}

async function libraryTokenizer(text: string, json: TokenizerJson, label: string): Promise<Tokenizer> {
  const { Tokenizer: Library } = await import('@huggingface/tokenizers');
  const vocabulary = vocabularyOf(json, [], label);
  const library = guarded(label, () => new Library(JSON.parse(text), {}));
  const run = (input: string, add_special_tokens: boolean): number[] =>
    guarded(label, () => library.encode(input, { add_special_tokens }).ids);
  return tokenizerOf({
    vocabulary,
    wordPiece: undefined,
    frame: frameAround(run('a', false), run('a', true), label),
    encode: (input) => Uint32Array.from(run(input, false)),
  });
}

/** What the post-processor puts before and after, seen on one example. */
function frameAround(bare: readonly number[], full: readonly number[], label: string): SpecialTokenFrame {
  for (let start = 0; start + bare.length <= full.length; start++)
    if (bare.every((id, i) => full[start + i] === id))
      return { before: full.slice(0, start), after: full.slice(start + bare.length) };
  throw new TokenizerError(`${label}: post_processor: changes the tokens between its special tokens`);
}

/** The library throws plain errors on files it cannot use; they become ours, with the file's name. */
function guarded<T>(label: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    throw new TokenizerError(`${label}: @huggingface/tokenizers refuses it: ${printable(messageOf(cause))}`, { cause });
  }
}
