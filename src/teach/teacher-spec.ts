/**
 * How people name a teacher, in one word of a command line or as an object of a configuration:
 *
 *     [dense:|sparse:|siamese:]MODEL[,max-length=256][,precision=int8]
 *         [,pooling=cls][,normalise=false][,query-prefix=…][,document-prefix=…]
 *
 * MODEL is a folder or the name of a pulled model. Knows the names, not the models.
 */
import { z } from 'zod';
import { nearest, UsageError } from '../core/index.ts';
import { POOLINGS, PRECISIONS } from '../model/index.ts';

/**
 * dense: one vector a text. sparse: term weights for documents, a table for queries. siamese: term weights by the network
 * for both.
 */
export const TEACHER_KINDS = ['dense', 'sparse', 'siamese'] as const;

/** A teacher, as a configuration has it. */
export const teacherSpecSchema = z.strictObject({
  model: z.string().min(1).describe('a folder, or the name of a pulled model'),
  kind: z.enum(TEACHER_KINDS).optional().describe('what it gives; found out where left out'),
  pooling: z
    .enum(POOLINGS)
    .optional()
    .describe('dense: how positions become one vector; mean where neither this nor the folder says it'),
  normalise: z.boolean().optional().describe('dense: whether vectors have length 1'),
  queryPrefix: z.string().optional().describe('dense: what stands before a query'),
  documentPrefix: z.string().optional().describe('dense: what stands before a document'),
  maxLength: z.int().positive().optional().describe('tokens that are read of a text'),
  precision: z.enum(PRECISIONS).optional().describe('arithmetic of its network'),
});

/** A teacher, as it is named. */
export type TeacherSpec = Readonly<z.infer<typeof teacherSpecSchema>>;

/** How the words are explained. */
export const TEACHER_HELP =
  'dense:, sparse: or siamese: and a model folder or pulled name, then options: ,max-length=TOKENS ,precision=fp32|int8; ' +
  'of dense ones also ,pooling=mean|cls ,normalise=true|false ,query-prefix=TEXT ,document-prefix=TEXT';

const OPTION_KEYS: Readonly<Record<string, keyof TeacherSpec>> = {
  pooling: 'pooling',
  normalise: 'normalise',
  'query-prefix': 'queryPrefix',
  'document-prefix': 'documentPrefix',
  'max-length': 'maxLength',
  precision: 'precision',
};

/** Reads the word of a command line. */
export function parseTeacher(text: string): TeacherSpec {
  const [name, ...options] = text.split(/,(?=[\w-]+=)/);
  const [, prefix, rest] = /^(\w+):(.+)$/s.exec(name) ?? [];
  const kind = TEACHER_KINDS.find((known) => known === prefix);
  const model = kind ? rest : name;
  const spec: Record<string, unknown> = { model, ...(kind ? { kind } : {}) };
  for (const option of options) {
    const at = option.indexOf('=');
    const [given, value] = [option.slice(0, at), option.slice(at + 1)];
    const key = Object.hasOwn(OPTION_KEYS, given) ? OPTION_KEYS[given] : undefined;
    if (key === undefined) throw unknownOption(text, given);
    spec[key] = readValue(key, value);
  }
  const parsed = teacherSpecSchema.safeParse(spec);
  if (parsed.success) return parsed.data;
  const [{ path, message }] = parsed.error.issues;
  throw new UsageError(`teacher ${text}: ${path.join('.')}: ${message}`, { hint: `a teacher is ${TEACHER_HELP}` });
}

/** Numbers and truths as such; what is neither is for the schema to name. */
function readValue(key: keyof TeacherSpec, value: string): unknown {
  if (key === 'maxLength') return Number(value);
  if (key === 'normalise' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

function unknownOption(text: string, given: string): UsageError {
  const known = nearest(given, Object.keys(OPTION_KEYS));
  return new UsageError(`teacher ${text}: unknown option ${given}`, {
    hint: known ? `did you mean ${known}?` : `options are ${Object.keys(OPTION_KEYS).join(', ')}`,
  });
}
