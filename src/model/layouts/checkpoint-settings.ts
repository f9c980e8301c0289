/** The settings of a network without lzero.json: what its files say, and our defaults for what they leave open. */
import { basename, resolve } from 'node:path';
import type { Activation } from '../activation.ts';
import type { PruneRule } from '../prune.ts';
import { IDF_FILE } from '../settings.ts';
import { networkIn, positionsIn } from './network-in.ts';
import type { OptionName, SourceModel } from './source-model.ts';

/** Tokens that BERTs of the usual sizes can read. */
const USUAL_LENGTH = 512;

/** A setting that a file of the folder fixes. */
export type Said<T> = {
  readonly value: T;
  /** File and key. */
  readonly where: string;
};

/** What the files of a folder say. */
export type SaidSettings = {
  readonly activation?: Said<Activation> | undefined;
  readonly encodeLength?: Said<number> | undefined;
  readonly prune?: Said<PruneRule> | undefined;
  /** Which file has the query weights, where options may not choose them. */
  readonly idf?: string | undefined;
  readonly queries?: 'encoded' | undefined;
};

/** Settings of the network in `encoderFolder`, by what `folder` says of it; the activation is SPLADE's if it says none. */
export async function checkpointSettings(
  folder: string,
  encoderFolder: string,
  said: SaidSettings = {},
): Promise<Pick<SourceModel, 'settings' | 'fixed' | 'asked'>> {
  const name = basename(resolve(folder));
  const network = await networkIn(encoderFolder);
  const positions = (await positionsIn(encoderFolder, network)) ?? USUAL_LENGTH;
  const settings = {
    format: 1,
    ...network,
    name,
    activation: said.activation?.value ?? 'relu',
    encodeLength: said.encodeLength?.value ?? Math.min(USUAL_LENGTH, positions),
    prune: said.prune?.value ?? { rule: 'none' },
    specialTokens: 'drop',
    idf: IDF_FILE,
    source: `checkpoint ${name}`,
    ...(said.queries === undefined ? {} : { queries: said.queries }),
  } as const;
  const isInside = settings.kind === 'onnx' && settings.output.form === 'weights' && said.activation === undefined;
  return {
    settings,
    fixed: fixedBy(said),
    asked: isInside ? new Map([['activation', `${settings.file} has it inside and does not name it`]]) : undefined,
  };
}

function fixedBy({ activation, encodeLength, prune, idf }: SaidSettings): ReadonlyMap<OptionName, string> {
  const fixed = new Map<OptionName, string>();
  const places = { activation: activation?.where, encodeLength: encodeLength?.where, prune: prune?.where, idf };
  for (const name of ['activation', 'encodeLength', 'prune', 'idf'] as const) {
    const where = places[name];
    if (where !== undefined) fixed.set(name, where);
  }
  return fixed;
}
