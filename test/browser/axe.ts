/** What axe finds wrong in a page that is open. */
import { source as axeSource } from 'axe-core';
import type { Page } from 'playwright-core';

/** A line for each rule that is broken, with the elements that break it. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  const found = await page.evaluate('axe.run()');
  return (found as { violations: { id: string; nodes: { html: string }[] }[] }).violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`,
  );
}
