// All devices at once, and curves over the sizes, on the one-file page.

import type { Locator, Page } from '@playwright/test';
import { clean } from './axe';
import { waitUntilDrawn, expect, open, pageOf, tab, test } from './pages';

const totals = (page: Page): Locator =>
  page.getByRole('group', { name: 'Totals' });
const table = (page: Page): Locator =>
  page.getByRole('table', { name: 'Devices' });
const row = (page: Page, name: string): Locator =>
  table(page).getByRole('row').filter({ hasText: name });

test('the table of devices sorts and filters, and a click selects a device', async ({
  page
}) => {
  await open(page, 'resnet50.onnx', { width: 1400 });
  await tab(page, 'Devices');
  await expect(page.getByRole('tabpanel')).toContainText(/^.*22\d of 22\d/);
  await clean(page);
  await page.getByRole('textbox', { name: 'Filter devices' }).fill('nvidia l4');
  const ownRow = row(page, 'NVIDIA L4 ').or(row(page, 'NVIDIA L4')).first();
  await page
    .getByRole('tabpanel')
    .getByRole('combobox', { name: 'Precision' })
    .selectOption('fp16');
  await expect(ownRow).toContainText('FP16');
  await expect(ownRow.locator('.oad-Fits')).toHaveText('fits');
  const latency = await ownRow.getByRole('cell').nth(0).innerText();
  await ownRow.click();
  // What the row said is what the totals say.
  const tile = totals(page).getByRole('button', { name: /^Latency, / });
  await expect(tile).toContainText(latency);
  await expect(page.locator('.oad-Chip.oad-mod-device .oad-Fits')).toHaveText(
    'fits'
  );
  await expect(ownRow.getByRole('button')).toHaveAttribute(
    'aria-pressed',
    'true'
  );
  await clean(page);
});

test('the table scrolls inside its panel when narrow and dark', async ({
  page
}) => {
  await open(page, 'resnet50.onnx', { width: 700, height: 700, dark: true });
  await tab(page, 'Devices');
  await expect(table(page).getByRole('row').nth(3)).toBeVisible();
  expect(
    await page.evaluate(() => document.documentElement.scrollWidth)
  ).toBeLessThanOrEqual(700);
  await clean(page);
});

test('a click on a curve over the batch sets that batch size', async ({
  page
}) => {
  await page.setViewportSize({ width: 1400, height: 900 });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const options = ['--hardware', 'l4', '--precision', 'fp16'];
  await page.goto(pageOf('resnet50.onnx', ...options));
  await waitUntilDrawn(page);
  await tab(page, 'Sweep');
  const panel = page.getByRole('tabpanel');
  const latency = panel.getByRole('slider', { name: 'Latency' });
  await expect(panel).toContainText(/Most items\/s: batch \d+/);
  await expect(panel.locator('.oad-Sweep-knee')).toHaveCount(2);
  await clean(page);
  await latency.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  const noteText = await panel.locator('.oad-Sweep-note').innerText();
  const [, time] = /^batch 4: (.*?) \(/.exec(noteText)!;
  await page.keyboard.press('Enter');
  const tile = totals(page).getByRole('button', { name: /^Latency, / });
  await expect(tile).toContainText(time);
  // The same curves, another size shown: nothing is computed again from nothing.
  await expect(latency.locator('circle.oad-Plot-dot')).toHaveCount(9);
  await clean(page);
});

for (const dark of [false, true]) {
  test(`text generation of a decoder on the device of its page, ${dark ? 'dark' : 'light'}`, async ({
    page
  }) => {
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.emulateMedia({
      reducedMotion: 'reduce',
      colorScheme: dark ? 'dark' : 'light'
    });
    await page.goto(pageOf('llama.onnx', '--hardware', 'l4'));
    await waitUntilDrawn(page);
    await tab(page, 'Serving');
    const panel = page.getByRole('tabpanel');
    const decode = panel.getByRole('slider', {
      name: 'Decode: tokens/s, all sequences'
    });
    await expect(panel.getByRole('slider')).toHaveCount(6);
    await clean(page);
    await decode.focus();
    await page.keyboard.press('Home');
    // What is pointed at stands above the charts, and all of them show the place.
    await expect(panel.locator('.oad-Sweep-note')).toContainText(
      /tokens\/s, all sequences, batch 1: .+ with context 256/
    );
    await expect(panel.locator('.oad-Plot-cursor')).toHaveCount(6);
    await panel.getByLabel('Curves over').selectOption('context');
    await decode.focus();
    await page.keyboard.press('End');
    await expect(decode).toHaveAttribute(
      'aria-valuetext',
      /^context 131,072: /
    );
    const rows = panel.getByRole('table', {
      name: 'Longest context that fits'
    });
    await expect(rows.getByRole('row')).toHaveCount(10);
    await clean(page);
    // Another device is not in the page, which says so.
    await page.getByRole('button', { name: /NVIDIA L4/ }).click();
    await page
      .getByRole('option', { name: /Tesla T4|NVIDIA T4/ })
      .first()
      .click();
    await expect(panel).toContainText(/results for one device/);
  });
}

for (const dark of [false, true]) {
  test(`the roofline and the graph highlight each other’s selection, ${dark ? 'dark' : 'light'}`, async ({
    page
  }) => {
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.emulateMedia({
      reducedMotion: 'reduce',
      colorScheme: dark ? 'dark' : 'light'
    });
    const options = ['--hardware', 'l4', '--precision', 'fp16'];
    await page.goto(pageOf('resnet50.onnx', ...options));
    await waitUntilDrawn(page);
    await tab(page, 'Roofline');
    const panel = page.getByRole('tabpanel');
    const chart = panel.getByRole('slider', { name: 'Roofline' });
    await expect(panel.locator('.oad-Roofline-roof')).toBeVisible();
    await clean(page);
    await chart.focus();
    await page.keyboard.press('Home');
    await expect(panel.locator('.oad-Roofline-at')).toHaveCount(1);
    await page.keyboard.press('Enter');
    await expect(panel.locator('.oad-Roofline-chosen')).toHaveCount(1);
    const name = /^(\S+) · (\w+): /.exec(
      await panel.locator('.oad-Roofline-note').innerText()
    )!;
    await expect(
      page.getByRole('complementary', { name: 'Inspector' })
    ).toContainText(name[1]);
    // The ring of the selected one can be clicked: it is the point itself.
    const ring = (await panel.locator('.oad-Roofline-chosen').boundingBox())!;
    await page.mouse.move(ring.x + ring.width / 2, ring.y + ring.height / 2);
    await expect(panel.locator('.oad-Roofline-note')).toContainText(name[0]);
    await clean(page);
  });
}
