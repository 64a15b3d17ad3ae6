import { expect } from '@jupyterlab/galata';
import type { Locator } from '@playwright/test';
import { openModel, test } from './helpers';
import { pick } from './pages';

test.use({ autoGoto: false, tmpPath: '' });

test.beforeEach(async ({ page }) => {
  await page.goto();
  await page.theme.setLightTheme();
});

/** Selects the first node of that operator and returns the inspector. */
async function inspect(panel: Locator, op: RegExp): Promise<Locator> {
  await pick(panel, op);
  return panel.locator('.oad-Inspector');
}

test('values of a weight are read when asked for', async ({ page, log }) => {
  const panel = await openModel(page, 'resnet_tiny.onnx');
  const inspector = await inspect(panel, /^Conv/);
  const asked = (): number =>
    log.requests.filter(({ url }) => url.includes('/weights?')).length;
  expect(asked()).toBe(0);
  const show = inspector.getByRole('button', { name: /^Show values of/ });
  await show.first().focus();
  await page.keyboard.press('Enter');
  const chart = inspector.getByRole('slider', { name: /Histogram/ });
  await expect(chart).toBeVisible();
  await chart.focus();
  await page.keyboard.press('ArrowRight');
  await expect(chart).toHaveAttribute('aria-valuetext', /values \(/);
  const values = inspector.locator('.oad-Weights').first();
  await expect(values).toContainText('Std. deviation');
  await expect(values.getByRole('row').first()).toContainText('[0, 0, 0, 0]');
  await expect.poll(asked).toBe(1);
  await values.getByRole('button', { name: /^Hide values of/ }).click();
  await show.first().click();
  await expect(chart).toBeVisible();
  expect(asked()).toBe(1);
});

test('a file that is not there is named with the way out', async ({
  page,
  log
}) => {
  const panel = await openModel(page, 'bert_base.onnx');
  await panel.locator('.oad-Viewer').focus();
  await page.keyboard.press('Control+f');
  await page.keyboard.type('op=MatMul');
  await page.keyboard.press('Enter');
  const inspector = panel.locator('.oad-Inspector');
  await inspector
    .getByRole('button', { name: /^Show values of/ })
    .first()
    .click();
  const alert = inspector.getByRole('alert');
  await expect(alert).toContainText('is not there');
  await expect(alert).toContainText('weights.not_here.bin');
  await expect(alert.getByRole('button', { name: 'Retry' })).toBeVisible();
  // The browser itself notes that the server refused.
  expect(log.errors).toEqual([expect.stringContaining('422')]);
  log.errors.length = 0;
});
