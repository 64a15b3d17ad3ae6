// Scans by axe-core: WCAG 2.1 A and AA, and the target sizes of 2.2.

import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Our own part of a page that is not all ours. */
const OURS = '.oad-Viewer';

/**
 * The texts of a card are elements without blanks between them, which axe runs together before it looks
 * for them in the card's name. That the name begins with the title is tested by itself.
 */
const isCard = (rule: string, html: string): boolean =>
  rule === 'label-content-name-mismatch' && html.startsWith('<g ');

/** No violation in what is shown now: of the whole page, or of our part of it. */
export async function clean(page: Page, within?: string): Promise<void> {
  // Our pages have no frames. Otherwise their results would be put together in another page, which takes
  // longer than the scan and the focus from what is scanned.
  const axe = new AxeBuilder({ page })
    .options({ resultTypes: ['violations'] })
    .withTags(TAGS)
    .setLegacyMode();
  expect(page.frames()).toHaveLength(1);
  const { violations, passes } = await (
    within ? axe.include(within) : axe
  ).analyze();
  // A scan of nothing finds nothing.
  expect(passes.length).toBeGreaterThan(5);
  const faults = violations.flatMap(({ id, nodes }) =>
    nodes
      .filter(node => !isCard(id, node.html))
      .map(node => `${id}: ${String(node.target)} ${node.failureSummary}`)
  );
  expect(faults).toEqual([]);
}

export { OURS };
