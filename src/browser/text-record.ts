/** What is shown of a section. A text record unpacked is JSON: [page id, page address, page title, heading, anchor, text]. */
import { parseJson, SiteError } from '../core/index.ts';
import { unpack } from './packed.ts';
import { RECORD_HEADER_BYTES } from './page-table.ts';

/** A section as it is shown. */
export type SectionText = {
  readonly page: string;
  /** Address of the page. */
  readonly url: string;
  readonly pageTitle: string;
  /** What stands above the section inside of the page; '' at the top. */
  readonly heading: string;
  /** The address of the section behind that of the page, with its #; '' at the top. */
  readonly anchor: string;
  readonly text: string;
};

/** The fields of a section in the order of a record. */
export function recordFields({ page, url, pageTitle, heading, anchor, text }: SectionText): string[] {
  return [page, url, pageTitle, heading, anchor, text];
}

/** Reads a text record. */
export async function readTextRecord(record: Uint8Array, label: string): Promise<SectionText> {
  const fail = (problem: string): SiteError => new SiteError(`${label} is damaged: ${problem}`);
  const length = record[0] | (record[1] << 8);
  if (RECORD_HEADER_BYTES + length > record.length) throw fail(`a record of ${length} bytes in ${record.length}`);
  const bytes = await unpack(record.subarray(RECORD_HEADER_BYTES, RECORD_HEADER_BYTES + length), label);
  const fields = parseJson(new TextDecoder().decode(bytes), fail);
  if (!Array.isArray(fields) || fields.length !== 6 || !fields.every((field) => typeof field === 'string'))
    throw fail('a text record has six strings');
  const [page, url, pageTitle, heading, anchor, text] = fields;
  return { page, url, pageTitle, heading, anchor, text };
}
