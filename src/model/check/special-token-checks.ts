/** Checks of the tokens that are no words: all there, under the ids that other files name, and without weight. */
import { isJsonObject } from '../../core/index.ts';
import { BERT_SPECIAL_TOKENS, type Tokenizer, Vocabulary } from '../../text/index.ts';
import { objectsNamed } from './description-files.ts';
import { effectOf, withoutTerms } from './effect.ts';
import { checkKept } from './kept-special-tokens.ts';
import { broken, type CheckResult, differs, notApplicable, ok } from './report.ts';
import type { Subject } from './subject.ts';
import { allTexts } from './tokenizer-checks.ts';

/** Roles of special tokens in BERTs, by the name that files use for the role. */
const ROLES = { pad: '[PAD]', unk: '[UNK]', cls: '[CLS]', sep: '[SEP]', mask: '[MASK]' } as const;

/** What one file says about one special token. */
type Claim = { readonly where: string; readonly token: string; readonly id: number };

/** Whether special tokens are there, have the ids that the files name, and weigh 0. */
export async function checkSpecialTokens(subject: Subject): Promise<CheckResult> {
  const id = 'special-tokens';
  const { tokenizer } = subject;
  if (tokenizer === undefined) return notApplicable(id, 'there is no tokenizer to look into');
  const { vocabulary } = tokenizer;
  const absent = BERT_SPECIAL_TOKENS.filter((token) => vocabulary.idOf(token) === undefined);
  if (absent.length > 0 && tokenizer.wordPiece !== undefined)
    return broken(id, [`the vocabulary has no ${absent.join(', ')}`], 'take the vocabulary from the base model');
  const unknownNames = absentNames(subject, vocabulary);
  if (unknownNames.length > 0) return broken(id, unknownNames, 'take the tokenizer files from one model, all of them');
  return (await checkIds(subject, tokenizer)) ?? (await checkKept(subject)) ?? checkWeightless(subject, vocabulary);
}

/** Whether files give special tokens the ids that the vocabulary gives them; undefined where they do. */
async function checkIds(subject: Subject, tokenizer: Tokenizer): Promise<CheckResult | undefined> {
  const { vocabulary } = tokenizer;
  const known = claims(subject).filter(({ token }) => vocabulary.idOf(token) !== undefined);
  const wrong = known.filter(({ token, id }) => vocabulary.idOf(token) !== id);
  if (wrong.length === 0) return undefined;
  return differs('special-tokens', {
    found: wrong.map(
      ({ where, token, id }) => `${where} gives ${token} the id ${id}, the vocabulary ${vocabulary.idOf(token)}`,
    ),
    effect: await subject.measure({ tokenizer: byClaims(tokenizer, wrong) }),
    fix: 'correct the ids in the file named, or take the tokenizer that belongs to it',
  });
}

/** Whether special tokens stay out of vectors. */
function checkWeightless(subject: Subject, { specialIds, tokens }: Vocabulary): CheckResult {
  const id = 'special-tokens';
  const { encoded } = subject;
  const names = (ids: Iterable<number>): string => Array.from(ids, (j) => tokens[j]).join(', ');
  const weighed = weighedTerms(subject, specialIds);
  if (weighed.size === 0) return ok(id, `${names(specialIds)} weigh 0`);
  const effect = encoded && effectOf(encoded, withoutTerms(encoded, weighed));
  return differs(id, { found: [`${names(weighed)} have weights in vectors`], effect, fix: 'drop them after encoding' });
}

/** Special tokens that a file names and the vocabulary does not have. */
function absentNames({ files }: Subject, vocabulary: Vocabulary): string[] {
  const found: string[] = [];
  for (const name of ['tokenizer_config.json', 'special_tokens_map.json'])
    for (const { path, json } of objectsNamed(files, name))
      for (const role of Object.keys(ROLES)) {
        const token = contentOf(json[`${role}_token`]);
        if (token !== undefined && vocabulary.idOf(token) === undefined)
          found.push(`${path}: ${role}_token is ${JSON.stringify(token)}, which the vocabulary does not have`);
      }
  return found;
}

/** Special tokens stand in files as strings or as {content}. */
function contentOf(value: unknown): string | undefined {
  const content = isJsonObject(value) ? value.content : value;
  return typeof content === 'string' ? content : undefined;
}

/** Ids of special tokens by config.json and by the list of added tokens. */
function claims({ files }: Subject): Claim[] {
  const found: Claim[] = [];
  for (const { path, json } of objectsNamed(files, 'config.json'))
    for (const [role, token] of Object.entries(ROLES)) {
      const id = json[`${role}_token_id`];
      if (typeof id === 'number' && 'model_type' in json) found.push({ where: `${path}: ${role}_token_id`, token, id });
    }
  for (const { path, json } of objectsNamed(files, 'tokenizer_config.json'))
    for (const [id, added] of Object.entries(
      isJsonObject(json.added_tokens_decoder) ? json.added_tokens_decoder : {},
    )) {
      const token = contentOf(added);
      if (token !== undefined) found.push({ where: `${path}: added_tokens_decoder`, token, id: Number(id) });
    }
  return found;
}

/** The tokenizer of somebody who takes the ids of special tokens from these files. */
function byClaims(tokenizer: Tokenizer, wrong: readonly Claim[]): Tokenizer {
  const { vocabulary } = tokenizer;
  const others = new Map(wrong.map(({ token, id }) => [vocabulary.idOf(token) ?? -1, id]));
  const special = new Set(Array.from(vocabulary.specialIds, (j) => others.get(j) ?? j));
  const named = Array.from(special, (j) => vocabulary.tokens[j]).filter((token) => token !== undefined);
  const renumber = (j: number): number => others.get(j) ?? j;
  return {
    ...tokenizer,
    vocabulary: new Vocabulary(vocabulary.tokens, named, 'by other ids'),
    encode: (text) => tokenizer.encode(text).map(renumber),
    encodeForModel: (text, maxLength) => {
      const input = tokenizer.encodeForModel(text, maxLength);
      return { ...input, ids: input.ids.map(renumber) };
    },
  };
}

/** Those of the terms that some vector has. */
function weighedTerms({ encoded }: Subject, terms: ReadonlySet<number>): Set<number> {
  const vectors = [...(encoded?.queries ?? []), ...(encoded?.documents ?? [])];
  return new Set(vectors.flatMap((vector) => Array.from(vector.terms).filter((j) => terms.has(j))));
}

/** Whether words that the vocabulary does not have stay without weight: else they would all match each other. */
export async function checkUnknownToken(subject: Subject): Promise<CheckResult> {
  const id = 'unknown-token';
  const { tokenizer, encoded } = subject;
  if (tokenizer === undefined) return notApplicable(id, 'there is no tokenizer to look into');
  const { vocabulary } = tokenizer;
  const name = tokenizer.wordPiece?.unknownToken ?? unknownOfJson(subject);
  const unknown = name === undefined ? undefined : vocabulary.idOf(name);
  if (unknown === undefined) return notApplicable(id, 'the tokenizer has no token for unknown words');
  const ids = allTexts(subject).flatMap((text) => Array.from(tokenizer.encode(text)));
  const share = ids.filter((j) => j === unknown).length / Math.max(1, ids.length);
  const found = `${(100 * share).toFixed(1)} % of the tokens of ${allTexts(subject).length} texts are ${name}`;
  if (vocabulary.specialIds.has(unknown)) return ok(id, `${found}; it weighs 0`);
  const effect = encoded && effectOf(encoded, withoutTerms(encoded, new Set([unknown])));
  return differs(id, {
    found: [`unknown words become ${JSON.stringify(name)}, which is not special: they all count as one word`, found],
    effect,
    fix: 'name the unknown token of the vocabulary, [UNK] for BERT, as model.unk_token in tokenizer.json',
  });
}

function unknownOfJson({ files }: Subject): string | undefined {
  for (const { json } of objectsNamed(files, 'tokenizer.json'))
    if (isJsonObject(json.model) && typeof json.model.unk_token === 'string') return json.model.unk_token;
  return undefined;
}
