/** Whether a document can be kept, asked before it waits for its segment: one that fails later takes others with it. */
import { checkDocument, lineOf, type StoredDocument } from './document.ts';
import { booleanOf, type FieldSchema, keywordsOf, numberOf } from './fields.ts';

/** Throws the InputError that `writeDocuments` would throw for this document. */
export function checkStoredDocument(document: StoredDocument, fields: FieldSchema): void {
  checkDocument(document);
  lineOf(document);
  checkDeclaredFields(document, fields);
}

/** Throws an InputError where a declared field has a value of another type. */
export function checkDeclaredFields(document: Pick<StoredDocument, 'id' | 'fields'>, fields: FieldSchema): void {
  for (const [name, type] of Object.entries(fields)) {
    if (type === 'keyword') keywordsOf(document, name);
    else if (type === 'number') numberOf(document, name);
    else booleanOf(document, name);
  }
}
