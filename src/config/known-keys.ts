/** Which keys a zod schema knows at a path, for "did you mean". Only reads schemas; never validates. */
import { core } from 'zod';
import type { SettingPath } from '../core/index.ts';

/** Keys of the objects that may stand at `path`. */
export function knownKeys(schema: core.$ZodType, path: SettingPath): string[] {
  const objects = schemasAt(schema, path).filter((candidate) => candidate instanceof core.$ZodObject);
  return [...new Set(objects.flatMap((object) => Object.keys(object._zod.def.shape)))];
}

/** Schemas that the value at `path` may follow; several below a union. */
function schemasAt(schema: core.$ZodType, path: SettingPath): core.$ZodType[] {
  let current = bare(schema);
  for (const step of path) current = current.flatMap((candidate) => children(candidate, step)).flatMap(bare);
  return current;
}

/** A schema without its wrappers: optional, default, union and the like. */
function bare(schema: core.$ZodType): core.$ZodType[] {
  if (
    schema instanceof core.$ZodOptional ||
    schema instanceof core.$ZodNullable ||
    schema instanceof core.$ZodDefault ||
    schema instanceof core.$ZodPrefault ||
    schema instanceof core.$ZodNonOptional ||
    schema instanceof core.$ZodReadonly ||
    schema instanceof core.$ZodCatch
  )
    return bare(schema._zod.def.innerType);
  if (schema instanceof core.$ZodPipe) return bare(schema._zod.def.in);
  if (schema instanceof core.$ZodUnion) return schema._zod.def.options.flatMap(bare);
  if (schema instanceof core.$ZodIntersection) return [schema._zod.def.left, schema._zod.def.right].flatMap(bare);
  return [schema];
}

function children(schema: core.$ZodType, step: string | number): core.$ZodType[] {
  if (schema instanceof core.$ZodObject) {
    const { shape } = schema._zod.def;
    return Object.hasOwn(shape, step) ? [shape[step]] : [];
  }
  if (schema instanceof core.$ZodArray) return [schema._zod.def.element];
  if (schema instanceof core.$ZodRecord) return [schema._zod.def.valueType];
  return [];
}
