import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import type { Locator, Page } from '@playwright/test';
import { openModel, test } from './helpers';
import { waitUntilDrawn, notebook, runCell } from './notebooks';
import { pick } from './pages';

/** Selects the first node of that operator and returns the inspector. */
async function inspect(panel: Locator, op: RegExp): Promise<Locator> {
  await pick(panel, op);
  return panel.locator('.oad-Inspector');
}

interface ISaved {
  name: string;
  /** What numpy says of the values in its header. */
  header: string;
  values: Float32Array;
}

/** Shows the values of the first constant and saves all of them. */
async function saveFirst(page: Page, inspector: Locator): Promise<ISaved> {
  await inspector
    .getByRole('button', { name: /^Show values of/ })
    .first()
    .click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    inspector.getByRole('button', { name: /^Save .* as \.npy$/ }).click()
  ]);
  const file = readFileSync(await download.path());
  expect(file.toString('latin1', 1, 6)).toBe('NUMPY');
  const start = 10 + file.readUInt16LE(8);
  return {
    name: download.suggestedFilename(),
    header: file.toString('latin1', 10, start),
    values: new Float32Array(Uint8Array.from(file.subarray(start)).buffer)
  };
}

test('values of a weight are read on request', async ({ page, log }) => {
  const panel = await openModel(page, 'resnet_tiny.onnx');
  const inspector = await inspect(panel, /^Conv/);
  const requestCount = (): number =>
    log.requests.filter(({ url }) => url.includes('/weights?')).length;
  expect(requestCount()).toBe(0);
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
  await expect.poll(requestCount).toBe(1);
  await values.getByRole('button', { name: /^Hide values of/ }).click();
  await show.first().click();
  await expect(chart).toBeVisible();
  expect(requestCount()).toBe(1);
});

test('a missing file is named with a way to fix it', async ({ page, log }) => {
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

test('all values of a weight are saved as a NumPy file', async ({ page }) => {
  const panel = await openModel(page, 'resnet_tiny.onnx');
  const inspector = await inspect(panel, /^Conv/);
  const saved = await saveFirst(page, inspector);
  expect(saved.name).toMatch(/weight\.npy$/);
  expect(saved.header).toContain("'descr': '<f4'");
  const shape = /'shape': \(([\d, ]+)\)/.exec(saved.header)?.[1].split(', ');
  const elements = shape?.reduce((count, size) => count * Number(size), 1);
  expect(saved.values).toHaveLength(elements ?? 0);
  const cell = inspector.locator('.oad-Weights').getByRole('cell').first();
  expect(Number(await cell.textContent())).toBeCloseTo(saved.values[0], 5);
});

test('the kernel reads the values for a widget', async ({ page }) => {
  await notebook(page, 'npy.ipynb', [
    [
      'import py_autodoc',
      "w = py_autodoc.Autodoc('resnet_tiny.onnx', height=700)",
      'w'
    ].join('\n'),
    "w.show(w.find('op=Conv')[0].id)"
  ]);
  await runCell(page, 0);
  const widget = page.locator('.oad-Widget');
  await waitUntilDrawn(widget);
  await runCell(page, 1);
  const inspector = widget.locator('.oad-Inspector');
  await expect(inspector).toContainText('Conv');
  const saved = await saveFirst(page, inspector);
  expect(saved.header).toContain("'descr': '<f4'");
  expect(saved.values.length).toBeGreaterThan(100);
});
