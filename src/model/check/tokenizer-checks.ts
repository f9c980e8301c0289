/** Checks of tokenizer drift: the folder's files among themselves, and against BERT's uncased tokenizer. */
import { relative, sep } from 'node:path';
import {
  BERT_UNCASED,
  createTokenizer,
  type IdfTable,
  type Tokenizer,
  type Vocabulary,
  wordPieceTokenizer,
} from '../../text/index.ts';
import type { ModelFolder } from '../model-folder.ts';
import { type DescriptionFile, objectOf } from './description-files.ts';
import { largest } from './effect.ts';
import { broken, type CheckResult, differs, type Effect, notApplicable, ok } from './report.ts';
import { problemOf, type Subject } from './subject.ts';
import { type NamedTokenizer, tokenizerDifferences } from './tokenizer-differences.ts';

/** Whether all files that describe the tokenizer describe the same one. */
export async function checkTokenizerFiles(subject: Subject): Promise<CheckResult> {
  const id = 'tokenizer-files';
  const { candidates, failures } = await tokenizersOf(subject);
  if (failures.length > 0) return broken(id, failures, 'fetch or export the tokenizer files again');
  const [first, ...others] = candidates;
  if (first === undefined) return broken(id, ['the folder has neither tokenizer.json nor vocab.txt'], NO_TOKENIZER);
  if (others.length === 0) return ok(id, `${first.name} describes it, and no other file does`);
  const used = { name: first.name, tokenizer: subject.tokenizer ?? first.tokenizer };
  const found: string[] = [];
  const effects: (Effect | undefined)[] = [];
  for (const other of others) {
    const differences = tokenizerDifferences(used, other, allTexts(subject));
    if (differences.length === 0) continue;
    found.push(...differences);
    effects.push(await effectOfTokenizer(subject, other.tokenizer));
  }
  if (found.length === 0) return ok(id, `${candidates.map(({ name }) => name).join(', ')} agree`);
  return differs(id, { found, effect: largest(effects), fix: `${KEEP_ONE}; lzero reads ${first.name}` });
}

const NO_TOKENIZER = 'copy tokenizer.json, or vocab.txt and tokenizer_config.json, from where the model comes from';
const KEEP_ONE = 'find out which one the model was trained with, and make the other files say the same or delete them';

/** Whether the tokenizer is the one that uncased BERTs were trained with. */
export async function checkTokenizerReference(subject: Subject): Promise<CheckResult> {
  const id = 'tokenizer-reference';
  const { tokenizer } = subject;
  if (tokenizer === undefined) return notApplicable(id, 'there is no tokenizer to compare');
  const { vocabulary } = tokenizer;
  const missing = BERT_UNCASED.literalTokens.filter((token) => vocabulary.idOf(token) === undefined);
  if (missing.length > 0) return notApplicable(id, `not a BERT vocabulary: it has no ${missing.join(', ')}`);
  if (isCased(vocabulary)) return notApplicable(id, 'the vocabulary has upper-case words: the model is a cased one');
  const reference = {
    name: "BERT's uncased tokenizer",
    tokenizer: wordPieceTokenizer(vocabulary, { settings: BERT_UNCASED, label: 'reference' }),
  };
  const found = tokenizerDifferences({ name: 'the folder', tokenizer }, reference, allTexts(subject));
  if (found.length === 0) return ok(id, `cuts ${allTexts(subject).length} texts as BERT's uncased tokenizer does`);
  const effect = await effectOfTokenizer(subject, reference.tokenizer);
  return differs(id, { found, effect, fix: AS_TRAINED });
}

const AS_TRAINED =
  'if the model was trained with BERT’s uncased tokenizer, take tokenizer.json from its base model; if not, nothing is wrong';

/** Share of tokens with upper-case letters above which a vocabulary is a cased one. */
const CASED_SHARE = 0.01;

function isCased({ tokens, size }: Vocabulary): boolean {
  const numCased = tokens.filter((token) => /\p{Lu}/u.test(token) && !/^\[\w+\]$/.test(token)).length;
  return numCased > CASED_SHARE * size;
}

/** What scores would do with another tokenizer in the model's place. */
export async function effectOfTokenizer(subject: Subject, tokenizer: Tokenizer): Promise<Effect | undefined> {
  const { model } = subject;
  if (model === undefined || !fitsNetwork(model, tokenizer)) return undefined;
  return await subject.measure({ tokenizer, idf: idfFor(model, tokenizer.vocabulary) });
}

function fitsNetwork({ config }: ModelFolder, { vocabulary }: Tokenizer): boolean {
  return config === undefined || vocabulary.size <= config.vocabSize;
}

/** The model's query weights by token, for a vocabulary with other ids. A token that it does not know weighs 1. */
function idfFor({ tokenizer, idf }: ModelFolder, vocabulary: Vocabulary): IdfTable {
  if (tokenizer.vocabulary.equals(vocabulary)) return idf;
  const weightOf = (token: string): number => {
    const id = tokenizer.vocabulary.idOf(token);
    return id === undefined ? 1 : idf.values[id];
  };
  return { values: Float32Array.from(vocabulary.tokens, weightOf) };
}

/** Every text that effects are measured on. */
export function allTexts({ texts }: Pick<Subject, 'texts'>): string[] {
  return [...texts.queries, ...texts.documents];
}

// ---- the tokenizers that the files of a folder describe

type Found = { readonly candidates: NamedTokenizer[]; readonly failures: string[] };

/** Each way to read the files, the one that lzero takes first. */
async function tokenizersOf({ folder, files, model, tokenizer }: Subject): Promise<Found> {
  const found: Found = { candidates: [], failures: [] };
  const places = new Set(files.filter(({ name }) => IS_TOKENIZER.has(name)).map(({ place }) => place));
  const own = model === undefined ? undefined : placeOf(folder, model.tokenizerFolder);
  for (const place of [...places].sort((a, b) => Number(b === own) - Number(a === own)))
    for (const { name, make } of readings(folder, filesAt(files, place)))
      try {
        found.candidates.push({ name, tokenizer: await make() });
      } catch (error) {
        found.failures.push(problemOf(error).message);
      }
  const lower = files.find(
    (file) => file.name === 'sentence_bert_config.json' && objectOf(file)?.do_lower_case === true,
  );
  if (lower && tokenizer)
    found.candidates.push({ name: `${lower.path} (do_lower_case)`, tokenizer: lowered(tokenizer) });
  return found;
}

const IS_TOKENIZER: ReadonlySet<string> = new Set(['tokenizer.json', 'vocab.txt']);

function placeOf(folder: string, inner: string): string {
  return relative(folder, inner).split(sep).join('/');
}

function filesAt(files: readonly DescriptionFile[], place: string): ReadonlyMap<string, DescriptionFile> {
  return new Map(files.filter((file) => file.place === place).map((file) => [file.name, file]));
}

type Reading = { readonly name: string; readonly make: () => Promise<Tokenizer> };

/** tokenizer.json; vocab.txt with tokenizer_config.json; and tokenizer_config.json over the vocabulary of tokenizer.json. */
function* readings(folder: string, files: ReadonlyMap<string, DescriptionFile>): Generator<Reading> {
  const [json, vocab, config] = ['tokenizer.json', 'vocab.txt', 'tokenizer_config.json'].map((name) => files.get(name));
  const tokenizerConfig = config && isBertConfig(config) ? config.text : undefined;
  const withConfig = tokenizerConfig === undefined ? '' : ' with tokenizer_config.json';
  const label = folder;
  if (json) yield { name: json.path, make: () => createTokenizer({ tokenizerJson: json.text, label }) };
  if (vocab) {
    const make = () => createTokenizer({ vocabTxt: vocab.text, tokenizerConfig, label });
    yield { name: vocab.path + withConfig, make };
  } else if (json && config && tokenizerConfig !== undefined) {
    const make = async () => {
      const { tokens } = (await createTokenizer({ tokenizerJson: json.text, label })).vocabulary;
      return await createTokenizer({ vocabTxt: tokens.join('\n'), tokenizerConfig, label });
    };
    yield { name: config.path, make };
  }
}

/** Whether transformers would build a BERT tokenizer by this file; other classes do not read the flags. */
function isBertConfig(file: DescriptionFile): boolean {
  const { tokenizer_class: name = 'BertTokenizer' } = objectOf(file) ?? {};
  return typeof name === 'string' && /^(?:Distil)?BertTokenizer(?:Fast)?$/.test(name);
}

/** sentence-transformers lower-cases the whole text first where its own file says so. */
function lowered(tokenizer: Tokenizer): Tokenizer {
  return {
    ...tokenizer,
    encode: (text) => tokenizer.encode(text.toLowerCase()),
    encodeForModel: (text, maxLength) => tokenizer.encodeForModel(text.toLowerCase(), maxLength),
    tokens: (text) => tokenizer.tokens(text.toLowerCase()),
  };
}
