import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeSettings, renderSettings } from './describe-settings.ts';

const schema = z.strictObject({
  model: z.strictObject({ base: z.string().describe('where it is'), kind: z.enum(['a', 'b']).default('a') }),
  sources: z.union([z.string(), z.array(z.strictObject({ path: z.string(), weight: z.number().default(1) }))]),
  place: z.union([z.string(), z.strictObject({ x: z.number(), y: z.number() })]).optional(),
  limit: z.int().nullable().default(null).describe('null for none'),
});

describe('describeSettings', () => {
  it('names every setting with values, default and meaning, members of lists among them', () => {
    expect(describeSettings(schema)).toEqual([
      { path: 'model.base', values: 'text', default: undefined, isRequired: true, meaning: 'where it is' },
      { path: 'model.kind', values: 'a | b', default: '"a"', isRequired: false, meaning: '' },
      { path: 'sources', values: 'text | list', default: undefined, isRequired: true, meaning: '' },
      { path: 'sources[].path', values: 'text', default: undefined, isRequired: true, meaning: '' },
      { path: 'sources[].weight', values: 'number', default: '1', isRequired: false, meaning: '' },
      { path: 'place', values: 'text | {x, y}', default: undefined, isRequired: false, meaning: '' },
      { path: 'limit', values: 'integer | null', default: 'null', isRequired: false, meaning: 'null for none' },
    ]);
  });

  it('becomes lines that say whether a setting must be given', () => {
    const lines = renderSettings(describeSettings(schema)).split('\n');
    expect(lines[0]).toMatch(/^model\.base +text \(required\) +where it is$/);
    expect(lines[1]).toMatch(/^model\.kind +a \| b \(a\)$/);
    expect(lines[5]).toMatch(/^place +text \| \{x, y\} \(optional\)$/);
  });
});
