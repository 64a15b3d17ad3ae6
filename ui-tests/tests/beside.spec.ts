// The page of two models: offline, linked.

import {
  box,
  expect,
  openLegend,
  pageOfTwo,
  rectOf,
  setOpen,
  test
} from './pages';

/** BERT with fixed and with free sizes. */
const twoModels = (): string => pageOfTwo('bert_base.onnx', 'bert_dyn.onnx');

test('one page shows two models, and actions in one apply to the other', async ({
  page
}) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(twoModels());
  const sides = page.locator('.oad-SideBySide-side');
  await expect(sides.locator('.oad-GraphHost[data-scene-version]')).toHaveCount(
    2
  );
  const [left, right] = [sides.first(), sides.last()];
  await expect(left.locator('.oad-Compare')).toContainText(
    'Same architecture: 175 of 175 core operators'
  );
  await expect(right.locator('.oad-Compare')).toContainText(
    'Same architecture: 175 of 186 core operators'
  );
  await expect(right.locator('.oad-Compare')).toContainText('26 only here');

  // Each begins with its own first picture.
  await setOpen(left, /^BertEmbeddings/, false);
  await setOpen(left, /^BertEmbeddings/, true);
  await expect(box(right, /^BertEmbeddings/)).toHaveAttribute(
    'aria-expanded',
    'true'
  );

  const [a, b] = [await rectOf(left), await rectOf(right)];
  expect(b.x).toBeGreaterThanOrEqual(a.x + a.width - 1);
  // Where there is no room beside, one stands below the other.
  await page.setViewportSize({ width: 700, height: 900 });
  await expect.poll(async () => (await rectOf(right)).y).toBeGreaterThan(400);
});

test('the merged graph replaces both views until it is closed', async ({
  page
}) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(twoModels());
  const sides = page.locator('.oad-SideBySide-side');
  await expect(sides.locator('.oad-GraphHost[data-scene-version]')).toHaveCount(
    2
  );
  await sides
    .last()
    .getByRole('button', { name: 'Merge', exact: true })
    .click();
  const merged = page.getByRole('region', { name: 'Merged graph' });
  await expect(
    merged.locator('.oad-GraphHost[data-scene-version]')
  ).toBeVisible();
  await expect(sides.first()).toBeHidden();
  await expect(merged).toContainText('+ 26 added');
  // Edges of the second model alone look different, on the graph as in the legend.
  const added = merged.locator('path[stroke-dasharray="9 3 1.5 3"]');
  await expect(added.and(merged.locator('.oad-edges path')).first()).toHaveCSS(
    'stroke',
    'rgb(61, 90, 30)'
  );
  await openLegend(merged);
  await expect(
    added.and(merged.locator('.oad-Legend-states path'))
  ).toHaveCount(1);
  await page.keyboard.press('c');
  await expect(merged).toContainText(/Change 1 of \d+/);
  await page.keyboard.press('v');
  await expect(merged).toContainText(/\d+ of \d+ nodes differ/);
  await merged.getByRole('button', { name: 'Side by side' }).click();
  await expect(sides.first()).toBeVisible();
  await expect(
    page.locator('.oad-GraphHost[data-scene-version]:visible')
  ).toHaveCount(2);
});

test('the table of blocks lists the changes of each and selects them on both sides', async ({
  page
}) => {
  await page.goto(twoModels());
  const [left, right] = [0, 1].map(index =>
    page.locator('.oad-SideBySide-side').nth(index)
  );
  await expect(
    page.locator('.oad-SideBySide-side .oad-GraphHost[data-scene-version]')
  ).toHaveCount(2);
  await right.getByRole('tab', { name: 'Changes' }).click();
  const table = right.locator('.oad-Changes-table');
  await expect(table.getByRole('columnheader')).toHaveText([
    'Block',
    'Pairs',
    'Changed',
    'Only in A',
    'Only in B',
    'MACs of A',
    'MACs of B',
    'Difference'
  ]);
  const row = table.getByRole('row').filter({ hasText: 'embeddings' }).first();
  await expect(row).toBeVisible();
  const differing = await table.getByRole('row').count();
  await right.getByLabel(/^Only blocks that differ/).uncheck();
  await expect
    .poll(() => table.getByRole('row').count())
    .toBeGreaterThan(differing);
  await row.getByRole('button').click();
  await expect(right.locator('.oad-ring-selected').first()).toBeVisible();
  // What is the same on both sides is selected on both.
  await table
    .getByRole('row')
    .filter({ hasText: 'layer.11/output' })
    .getByRole('button')
    .click();
  for (const pane of [left, right]) {
    await expect(pane.locator('.oad-ring-selected').first()).toBeVisible();
  }
});
