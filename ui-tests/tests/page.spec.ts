// The one-file page, opened from disk: no server, no network.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test, type Page } from '@playwright/test';
import { pick } from './pages';

const models = process.env.JUPYTERLAB_GALATA_ROOT_DIR!;
let folder = '';

test.beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'autodoc-page-'));
});

test.afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface ISeen {
  requests: string[];
  errors: string[];
}

/** Writes the page of a model, opens it, and records what it asks for and complains about. */
async function open(page: Page, model: string): Promise<ISeen> {
  const file = join(folder, `${model}.html`);
  execFileSync('onnx-autodoc', [
    'analyze',
    join(models, model),
    '--assume',
    '--out-html',
    file
  ]);
  const seen: ISeen = { requests: [], errors: [] };
  page.on('request', request => seen.requests.push(request.url()));
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) {
      seen.errors.push(message.text());
    }
  });
  page.on('pageerror', error => seen.errors.push(error.message));
  await page.goto(pathToFileURL(file).href);
  await expect(page.locator('.oad-GraphHost[data-drawn]')).toBeVisible();
  return seen;
}

/** Nothing was asked for but the file itself, and what the page made of it. */
function alone(seen: ISeen): void {
  expect(seen.errors).toEqual([]);
  const fetched = seen.requests.filter(url => !/^(blob|data):/.test(url));
  expect(fetched).toHaveLength(1);
  expect(fetched[0]).toMatch(/^file:/);
}

test('shows the model, its numbers and a node, and asks nobody', async ({
  page
}) => {
  const seen = await open(page, 'bert_base.onnx');
  await expect(page.getByRole('group', { name: 'Totals' })).toContainText(
    '11.2 G'
  );
  await pick(page, /^LayerNormalization/);
  const inspector = page.locator('.oad-Inspector');
  await expect(inspector).toContainText('LayerNormalization');
  await expect(inspector).toContainText('epsilon');
  await page.getByRole('tab', { name: 'Layers' }).click();
  await expect(page.getByRole('grid').first()).toContainText('MatMul');
  alone(seen);
});

test('a large model is laid out in the worker of the page', async ({
  page
}) => {
  const seen = await open(page, 'ten_thousand.onnx');
  await page.keyboard.press('E');
  await expect(page.locator('.oad-GraphHost')).toBeVisible();
  alone(seen);
});

test('dimensions are told, not asked for', async ({ page }) => {
  const seen = await open(page, 'bert_dyn.onnx');
  await page.getByRole('tab', { name: /Dimensions/ }).click();
  await expect(page.locator('.oad-Dims')).toContainText('assumed');
  alone(seen);
});

test('names of a hostile model stay text', async ({ page }) => {
  const seen = await open(page, 'hostile.onnx');
  expect(
    await page.evaluate(() => (window as { PWNED?: number }).PWNED)
  ).toBeUndefined();
  alone(seen);
});

test('follows the dark theme of the system', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  const seen = await open(page, 'resnet_tiny.onnx');
  await expect(page.locator('html')).toHaveAttribute(
    'data-jp-theme-light',
    'false'
  );
  alone(seen);
});
