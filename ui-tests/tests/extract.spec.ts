import { expect } from '@jupyterlab/galata';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { current, openModel, test } from './helpers';

const root = process.env.JUPYTERLAB_GALATA_ROOT_DIR ?? '';
const made = (): string[] =>
  fs.readdirSync(root).filter(name => /^resnet_tiny\..+\.onnx$/.test(name));
const clean = (): void =>
  made().forEach(name => fs.unlinkSync(path.join(root, name)));

test.use({ autoGoto: false, tmpPath: '' });

test.beforeEach(async ({ page }) => {
  clean();
  await page.goto();
  await page.theme.setLightTheme();
});

test.afterEach(clean);

test('a node is extracted from its menu, the file appears and opens', async ({
  page
}) => {
  const panel = await openModel(page, 'resnet_tiny.onnx');
  const conv = panel.getByRole('button', { name: /^Conv\b/ }).first();
  await conv.click({ button: 'right' });
  await panel.getByRole('menuitem', { name: 'Extract to .onnx…' }).click();
  const told = panel.getByText(/Extracted to/);
  await expect(told).toContainText('1 input, 1 output');
  const [name] = made();
  expect(made()).toHaveLength(1);
  await expect(told).toContainText(name);
  await expect(
    page.locator(`.jp-DirListing-item[title^="Name: ${name}"]`)
  ).toBeVisible();
  await panel.getByRole('button', { name: 'Open', exact: true }).click();
  const part = current(page);
  await expect(page.getByRole('tab', { name, exact: false })).toBeVisible();
  await expect(part.locator('.oad-GraphHost[data-drawn]')).toBeVisible();
  await expect(part.getByRole('button', { name: /^Conv\b/ })).toHaveCount(1);
});

test('several nodes make one part; a second one gets a name of its own', async ({
  page
}) => {
  const panel = await openModel(page, 'resnet_tiny.onnx');
  const nodes = panel.getByRole('button', { name: /^(Conv|Relu)\b/ });
  for (const number of [1, 2]) {
    await nodes.nth(0).click();
    await nodes.nth(1).click({ modifiers: ['Shift'] });
    await nodes.nth(1).click({ button: 'right' });
    await panel.getByRole('menuitem', { name: 'Extract to .onnx…' }).click();
    await expect.poll(() => made().length).toBe(number);
    await panel.getByRole('button', { name: 'Close' }).click();
  }
  expect(made().sort()).toEqual([
    'resnet_tiny.2-nodes-2.onnx',
    'resnet_tiny.2-nodes.onnx'
  ]);
});
