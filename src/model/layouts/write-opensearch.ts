/**
 * A model as the document encoders of opensearch-project on the Hugging Face hub have it: the network and its tokenizer
 * in the folder itself, query weights in idf.json, and beside them, since their third series, the modules of
 * sentence-transformers, which alone say which activation the model has.
 */
import { join } from 'node:path';
import { writeFileAtomically } from '../../files/index.ts';
import type { IdfTable } from '../../text/index.ts';
import { formatIdf } from '../../text/index.ts';
import { IDF_FILE } from '../settings.ts';
import { foreignCard } from './write-card.ts';
import { writeMaskedLm } from './write-masked-lm.ts';
import type { ForeignModel } from './write-sentence-transformers.ts';
import { writeRouter } from './write-sentence-transformers.ts';
import { writeJson, writeTokenizer } from './write-tokenizer.ts';

/** Writes the folder. */
export async function writeOpenSearch(folder: string, model: ForeignModel): Promise<void> {
  const { checkpoint, settings, tokenizer } = model;
  const { vocabulary } = tokenizer;
  await writeMaskedLm(folder, checkpoint, vocabulary);
  await writeTokenizer(folder, model, { maxLength: settings.encodeLength });
  await writeJson(join(folder, 'sentence_bert_config.json'), {
    max_seq_length: settings.encodeLength,
    do_lower_case: false,
  });
  await writeFileAtomically(join(folder, IDF_FILE), formatIdf(positive(model.idf), vocabulary));
  await writeRouter(folder, model, '');
  await writeFileAtomically(join(folder, 'README.md'), foreignCard(model, { layout: 'opensearch', backend: 'torch' }));
}

/** Programs that read the file know no relu. */
function positive({ values }: IdfTable): IdfTable {
  return { values: values.map((weight) => Math.max(0, weight)) };
}
