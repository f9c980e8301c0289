import { describe, expect, it } from 'vitest';
import { parseTeacher, TEACHER_HELP } from './teacher-spec.ts';

describe('the name of a teacher', () => {
  it('is a model, with a kind before it and options after it', () => {
    expect(parseTeacher('./gte-small')).toEqual({ model: './gte-small' });
    expect(parseTeacher('siamese:owner/splade')).toEqual({ model: 'owner/splade', kind: 'siamese' });
    expect(parseTeacher('dense:/a,b,pooling=cls,query-prefix=query: ,max-length=256,precision=int8')).toEqual({
      model: '/a,b', // a comma without a name behind it is part of the path
      kind: 'dense',
      pooling: 'cls',
      queryPrefix: 'query: ',
      maxLength: 256,
      precision: 'int8',
    });
  });

  it('has options that its help lists, all of them', () => {
    for (const option of ['pooling', 'normalise', 'max-length', 'precision', 'query-prefix', 'document-prefix'])
      expect(TEACHER_HELP).toContain(`,${option}=`);
  });

  it('keeps commas inside of prefixes that name no option', () => {
    expect(parseTeacher('m,query-prefix=Represent this, briefly: ').queryPrefix).toBe('Represent this, briefly: ');
  });

  it('of another drive, or with another word before a colon, is a path', () => {
    expect(parseTeacher('c:/models/gte').model).toBe('c:/models/gte');
  });

  it.each([
    ['m,poolin=cls', /unknown option poolin/],
    ['m,pooling=max', /pooling/],
    ['m,max-length=many', /maxLength/],
    ['', /model/],
  ])('%s is refused', (text, message) => {
    expect(() => parseTeacher(text)).toThrow(message);
  });
});
