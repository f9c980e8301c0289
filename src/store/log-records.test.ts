import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { documentOf, SPARSE } from '../../test/store/documents.ts';
import { IndexFormatError } from '../core/index.ts';
import { addRecord, batchRecord, deleteRecord, type LoggedChange, readChanges } from './log-records.ts';
import type { NewLogRecord } from './log-writer.ts';

/** A change, and the record of it. */
const change = fc.oneof(
  fc.tuple(fc.string({ minLength: 1 }), fc.nat(9)).map(([id, version]): [LoggedChange, NewLogRecord] => {
    const document = documentOf(id, version);
    return [{ type: 'add', document }, addRecord(document, SPARSE)];
  }),
  fc
    .array(fc.string({ minLength: 1 }), { maxLength: 4 })
    .map((ids): [LoggedChange, NewLogRecord] => [{ type: 'delete', ids }, deleteRecord(ids)]),
);

const read = (record: NewLogRecord): LoggedChange[] => readChanges({ ...record, at: 16 }, SPARSE, 'log-0');

describe('records of the log', () => {
  test.prop([fc.array(change, { maxLength: 5 })])('say, alone and in a batch, what was written', (changes) => {
    const expected = changes.map(([logged]) => logged);
    expect(changes.flatMap(([, record]) => read(record))).toEqual(expected);
    expect(read(batchRecord(changes.map(([, record]) => record)))).toEqual(expected);
  });

  test.prop([fc.array(change, { minLength: 1, maxLength: 4 }), fc.nat(), fc.integer({ min: 1, max: 255 })])(
    'of another hand are changes or an IndexFormatError',
    (changes, place, mask) => {
      const { type, body } = batchRecord(changes.map(([, record]) => record));
      const wrong = Uint8Array.from(body);
      wrong[place % wrong.length] ^= mask;
      try {
        expect(read({ type, body: wrong })).toBeInstanceOf(Array);
      } catch (error) {
        expect(error).toBeInstanceOf(IndexFormatError);
      }
    },
  );
});
