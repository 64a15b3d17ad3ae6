import { expect } from '@playwright/test';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { current, openModel, test } from './helpers';
import { box, pick } from './pages';

const root = process.env.JUPYTERLAB_GALATA_ROOT_DIR ?? '';
const extractedFiles = (): string[] =>
  fs.readdirSync(root).filter(name => /^resnet_tiny\..+\.onnx$/.test(name));
const clean = (): void =>
  extractedFiles().forEach(name => fs.unlinkSync(path.join(root, name)));

test.beforeEach(clean);

test.afterEach(clean);

test('a node is extracted from its menu, and the new file opens', async ({
  page
}) => {
  const panel = await openModel(page, 'resnet_tiny.onnx');
  await pick(panel, /^Conv/);
  await box(panel, /^Conv/).click({ button: 'right' });
  await panel.getByRole('menuitem', { name: 'Extract to .onnx…' }).click();
  const message = panel.getByText(/Extracted to/);
  await expect(message).toContainText('1 input, 1 output');
  const [name] = extractedFiles();
  expect(extractedFiles()).toHaveLength(1);
  await expect(message).toContainText(name);
  await expect(
    page.locator(`.jp-DirListing-item[title^="Name: ${name}"]`)
  ).toBeVisible();
  await panel.getByRole('button', { name: 'Open', exact: true }).click();
  const partPanel = current(page);
  await expect(page.getByRole('tab', { name, exact: false })).toBeVisible();
  await expect(
    partPanel.locator('.oad-GraphHost[data-scene-version]')
  ).toBeVisible();
  await expect(box(partPanel, /^Conv/)).toBeVisible();
});

test('several nodes are extracted to one file; a second one gets a different name', async ({
  page
}) => {
  const panel = await openModel(page, 'resnet_tiny.onnx');
  // The box the menu opens on has to be in the picture.
  await pick(panel, /^Conv/);
  await panel.getByRole('textbox', { name: 'Find in the model' }).fill('conv');
  const selectAll = panel.getByRole('button', { name: /^Select all matches/ });
  for (const number of [1, 2]) {
    await selectAll.click();
    await box(panel, /^Conv/).click({ button: 'right' });
    await panel.getByRole('menuitem', { name: 'Extract to .onnx…' }).click();
    await expect.poll(() => extractedFiles().length).toBe(number);
    await panel.getByRole('button', { name: 'Close', exact: true }).click();
  }
  const [second, first] = extractedFiles().sort();
  expect(first).toMatch(/^resnet_tiny\.[2-9]\d*-nodes\.onnx$/);
  expect(second).toBe(first.replace('.onnx', '-2.onnx'));
});
