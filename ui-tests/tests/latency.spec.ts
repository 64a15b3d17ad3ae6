// Estimated latency on the one-file page: a device is chosen, every number that is a time follows.

import { clean } from './axe';
import {
  box,
  expect,
  graph,
  inspector,
  open,
  pick,
  rectOf,
  statusText,
  tab,
  test
} from './pages';
import type { Locator, Page } from '@playwright/test';

test.use({ permissions: ['clipboard-read', 'clipboard-write'] });

const totals = (page: Page): Locator =>
  page.getByRole('group', { name: 'Totals' });
const chip = (page: Page): Locator => page.locator('.oad-Chip.oad-mod-device');
/** What it says; a badge beside it says whether the model fits. */
const deviceChip = (page: Page): Locator =>
  chip(page).locator('span:not(.oad-Fits)');
const tile = (page: Page): Locator =>
  totals(page).getByRole('button', { name: /^Latency, / });

/** Chooses the first device that has all these words, by keyboard. */
async function choose(
  page: Page,
  words: string,
  precision: string
): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Device' });
  const search = dialog.getByRole('combobox', { name: 'Search devices' });
  await expect(search).toBeFocused();
  await search.fill(words);
  await search.press('Enter');
  const list = dialog.getByRole('listbox', { name: 'Devices' });
  await expect(list.getByRole('option', { selected: true })).toHaveCount(1);
  await dialog
    .getByRole('combobox', { name: 'Precision' })
    .selectOption(precision);
}

/** Seconds of a text like `1.28 ms` or `≥ 517 µs`. */
function seconds(text: string): number {
  const [, number, unit] = /([\d.]+)\s(s|ms|µs|ns)/.exec(text)!;
  return Number(number) * { s: 1, ms: 1e-3, µs: 1e-6, ns: 1e-9 }[unit]!;
}

test('choosing a device colours the graph, fills the table and is kept in links', async ({
  page
}) => {
  await open(page, 'bert_dyn.onnx', { width: 1900 });
  await expect(deviceChip(page)).toHaveText('Latency (choose a device…)');
  await expect(tile(page)).toHaveCount(0);
  await page.getByLabel('Heatmap').first().selectOption('latency');
  await clean(page);
  await choose(page, 'a100 sxm4 40gb', 'fp16');
  await clean(page);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(deviceChip(page)).toHaveText('NVIDIA A100 SXM4 40GB, FP16');
  await expect(chip(page).locator('.oad-Fits')).toHaveText('fits');
  await expect(page.getByLabel('Heatmap').first()).toHaveValue('latency');
  const legend = page.getByRole('group', { name: 'Heatmap legend' });
  await expect(legend).toContainText('NVIDIA A100 SXM4 40GB, FP16');
  await expect(box(page, /^BertEmbeddings/)).toHaveAccessibleName(/ µs$/);
  await clean(page);

  // The table adds up to the tile, of which blocks are the parts.
  const total = seconds(await tile(page).innerText());
  await tab(page, 'Layers');
  const table = page.getByRole('grid', { name: 'Layers' });
  const heads = await table.getByRole('columnheader').allInnerTexts();
  const column = heads.findIndex(head => head.trim() === 'Latency');
  const foot = page.locator('.oad-Grid-foot').getByRole('gridcell');
  expect(seconds(await foot.nth(column).innerText())).toBe(total);
  await expect(foot.nth(column + 1)).toHaveText('100 %');
  await table.getByRole('button', { name: 'Latency', exact: true }).click();
  const first = table.locator('.oad-Grid-row').first().getByRole('gridcell');
  // Rows are sorted a moment after the click; the first one there had no time.
  await expect(first.nth(column)).toHaveText(/s$/);
  expect(seconds(await first.nth(column).innerText())).toBeLessThan(total);
  expect(seconds(await first.nth(column).innerText())).toBeGreaterThan(0);

  // A link opens the same.
  await graph(page).focus();
  await page.keyboard.press('Shift+L');
  // Before that the clipboard holds what another test has copied.
  await expect(statusText(page)).toHaveText('Copied.');
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toContain(page.url().split('#')[0]);
  const otherPage = await page.context().newPage();
  await otherPage.goto(link);
  await expect(deviceChip(otherPage)).toHaveText('NVIDIA A100 SXM4 40GB, FP16');
  await expect(otherPage.getByLabel('Heatmap').first()).toHaveValue('latency');
  expect(seconds(await tile(otherPage).innerText())).toBe(total);
});

test('times follow the dimensions; a kernel shows what bounds it', async ({
  page
}) => {
  await open(page, 'bert_dyn.onnx');
  await chip(page).click();
  await choose(page, 'nvidia l4', 'fp16');
  await page.keyboard.press('Escape');
  const before = seconds(await tile(page).innerText());
  const card = box(page, /^BertModel/);
  const name = await card.getAttribute('aria-label');
  await tab(page, 'Dimensions');
  await page
    .getByRole('slider', { name: /Size of/ })
    .first()
    .fill('150');
  await expect(card).not.toHaveAttribute('aria-label', name!);
  expect(seconds(await tile(page).innerText())).toBeGreaterThan(2 * before);

  await pick(page, /^LayerNormalization/);
  await expect(inspector(page)).toContainText('Kernel');
  await expect(inspector(page)).toContainText(
    /fused into|not fused|fused with/
  );
  await expect(inspector(page)).toContainText('-bound:');

  // Without a device all of it goes away.
  await chip(page).click();
  await page.getByRole('button', { name: 'None', exact: true }).click();
  await expect(tile(page)).toHaveCount(0);
  await expect(page.getByLabel('Heatmap').first()).toHaveValue('');
  await expect(inspector(page)).not.toContainText('Kernel');
});

test('the list of devices stays in the window when narrow and dark', async ({
  page
}) => {
  await open(page, 'resnet50.onnx', { width: 700, height: 600, dark: true });
  await chip(page).click();
  const dialog = page.getByRole('dialog', { name: 'Device' });
  await clean(page);
  const frame = await rectOf(dialog);
  expect(frame.x).toBeGreaterThanOrEqual(0);
  expect(frame.x + frame.width).toBeLessThanOrEqual(700);
  expect(frame.y + frame.height).toBeLessThanOrEqual(600);
  await dialog.getByRole('combobox', { name: 'Search devices' }).fill('zzz');
  await expect(dialog).toContainText('No matching devices.');
});

for (const width of [700, 1100]) {
  test(`device and dimensions are readable next to the totals, ${width} px wide`, async ({
    page
  }) => {
    await open(page, 'bert_dyn.onnx', { width });
    await chip(page).click();
    await choose(page, 'a100 sxm4 40gb', 'fp16');
    await page.keyboard.press('Escape');
    await expect(tile(page)).toHaveCount(1);
    const texts = totals(page).locator(
      '.oad-Chip > span, .oad-Kpi > span:not([hidden])'
    );
    await expect(
      texts.filter({ hasText: 'batch = 1, seq = 128' })
    ).toBeVisible();
    for (const text of await texts.all()) {
      await expect(text).toBeInViewport({ ratio: 1 });
      expect(
        await text.evaluate(
          element => element.scrollWidth - element.clientWidth
        )
      ).toBe(0);
    }
  });
}
