/**
 * Writes what the shipped models make of fifty texts, and how they do on the embedded collection: test/golden/shipped. To be
 * run when a model's weights change, and only then.
 *
 *     npx tsx scripts/golden-shipped.ts [default]
 */
import { writeFileAtomically } from '../src/files/index.ts';
import { loadModel } from '../src/model/index.ts';
import { fixedTexts, goldenFile, SHIPPED, type ShippedGolden } from '../test/golden/shipped/fixtures.ts';
import { embeddedNdcg, vectorsOf } from '../test/golden/shipped/measure.ts';

const DECIMALS = 5;

const names = process.argv.length > 2 ? process.argv.slice(2) : SHIPPED;
for (const name of names) {
  const model = await loadModel(name, { precision: 'fp32' });
  const vectors = await vectorsOf(model, await fixedTexts());
  await model.close();
  const rounded = vectors.map((vector) =>
    Object.fromEntries([...vector].map(([token, weight]) => [token, Number(weight.toFixed(DECIMALS))])),
  );
  const golden: ShippedGolden = {
    command: `npx tsx scripts/golden-shipped.ts ${name}`,
    date: new Date().toISOString().slice(0, 10),
    identity: await identityOf(name),
    ndcg10: Number((await embeddedNdcg(name)).toFixed(4)),
    vectors: rounded,
  };
  await writeFileAtomically(goldenFile(name), `${JSON.stringify(golden)}\n`);
  console.log(`${name}: NDCG@10 of the embedded collection ${golden.ndcg10}`);
}

async function identityOf(name: string): Promise<string> {
  const model = await loadModel(name);
  const identity = await model.identity();
  await model.close();
  return identity;
}
