// The one-file page, opened from disk: no server, no network.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import { base as test } from './jupyterlab';
import { pageOf, pick } from './pages';

const models = process.env.JUPYTERLAB_GALATA_ROOT_DIR!;

interface ISeen {
  requests: string[];
  errors: string[];
}

/** Opens the page of a model and records what it asks for and complains about. */
async function open(page: Page, model: string): Promise<ISeen> {
  const log: ISeen = { requests: [], errors: [] };
  page.on('request', request => log.requests.push(request.url()));
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) {
      log.errors.push(message.text());
    }
  });
  page.on('pageerror', error => log.errors.push(error.message));
  await page.goto(pageOf(model));
  await expect(
    page.locator('.oad-GraphHost[data-scene-version]')
  ).toBeVisible();
  return log;
}

/** Nothing was asked for but the file itself, and what the page made of it. */
function alone(log: ISeen): void {
  expect(log.errors).toEqual([]);
  const fetched = log.requests.filter(url => !/^(blob|data):/.test(url));
  expect(fetched).toHaveLength(1);
  expect(fetched[0]).toMatch(/^file:/);
}

test('shows the model, its numbers and a node without network requests', async ({
  page
}) => {
  const log = await open(page, 'bert_base.onnx');
  await expect(page.getByRole('group', { name: 'Totals' })).toContainText(
    '11.2 G'
  );
  await pick(page, /^LayerNormalization/);
  const inspector = page.locator('.oad-Inspector');
  await expect(inspector).toContainText('LayerNormalization');
  await expect(inspector).toContainText('epsilon');
  await page.getByRole('tab', { name: 'Layers' }).click();
  await expect(page.getByRole('grid').first()).toContainText('MatMul');
  alone(log);
});

test('a large model is laid out in the worker of the page', async ({
  page
}) => {
  const log = await open(page, 'ten_thousand.onnx');
  await page.keyboard.press('E');
  await expect(page.locator('.oad-GraphHost')).toBeVisible();
  alone(log);
});

test('dimensions are shown but cannot be changed', async ({ page }) => {
  const log = await open(page, 'bert_dyn.onnx');
  await page.getByRole('tab', { name: /Dimensions/ }).click();
  await expect(page.locator('.oad-Dims')).toContainText('assumed');
  alone(log);
});

test('attributes may have the names that every object answers to', async ({
  page
}) => {
  const log = await open(page, 'hostile.onnx');
  const inspector = page.locator('.oad-Inspector');
  for (const name of [/^Relu/, /^Sigmoid/, /^Tanh/, /^Custom/]) {
    await pick(page, name);
    await expect(inspector).toContainText('isPrototypeOf');
    await expect(inspector).toContainText('__proto__');
    await expect(inspector).not.toContainText('native code');
  }
  alone(log);
});

test('names in a hostile model are shown as text', async ({ page }) => {
  const log = await open(page, 'hostile.onnx');
  expect(
    await page.evaluate(() => (window as { PWNED?: number }).PWNED)
  ).toBeUndefined();
  alone(log);
});

test('follows the dark theme of the system', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  const log = await open(page, 'resnet_tiny.onnx');
  await expect(page.locator('html')).toHaveAttribute(
    'data-jp-theme-light',
    'false'
  );
  alone(log);
});

/** Texts of the cells of all tables of a Markdown file, as a reader sees them. */
function cellsOf(card: string): string[][] {
  const plainSpaces = (text: string): string =>
    text
      .trim()
      .replace(/^(`+) ?(.*?) ?\1$/, '$2')
      .replace(/\\([\\`*_[\]~|])/g, '$1')
      .replace(/&(amp|lt|gt|quot|#\d+);/g, (_all, name: string) =>
        name.startsWith('#')
          ? String.fromCodePoint(Number(name.slice(1)))
          : { amp: '&', lt: '<', gt: '>', quot: '"' }[name]!
      )
      .replace(/`/g, '');
  return card
    .split('\n')
    .filter(line => line.startsWith('|') && !/^\|[ :|-]+$/.test(line))
    .map(line =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map(plainSpaces)
    );
}

test('the report has the tables of the model card and is the part that is printed', async ({
  page
}) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  const log = await open(page, 'resnet50.onnx');
  const model = join(models, 'resnet50.onnx');
  const card = execFileSync(
    'onnx-autodoc',
    ['analyze', model, '--assume', '--out-md', '-'],
    { encoding: 'utf-8' }
  );
  await page.getByRole('tab', { name: 'Report' }).click();
  const report = page.getByRole('region', { name: 'Report' });
  await expect(report.getByRole('heading', { level: 1 })).toHaveText(
    'resnet50.onnx'
  );
  const tableRows = await report.locator('tr').evaluateAll(rows =>
    rows.map(row => {
      const cells = [...(row as HTMLTableRowElement).cells];
      return cells.map(cell => cell.textContent!.trim());
    })
  );
  expect(tableRows).toEqual(cellsOf(card));
  await page.getByLabel('Section').selectOption({ label: 'Coverage' });
  await expect(
    report.getByRole('heading', { name: 'Coverage' })
  ).toBeInViewport();

  // On paper the report stands alone, in dark on white.
  const paper = page.locator('#autodoc-print');
  await expect(paper).toHaveCount(1);
  await expect(paper.locator('tr')).toHaveCount(0);
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await expect(paper.locator('tr')).toHaveCount(tableRows.length);
  await expect(paper.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.locator('#autodoc')).toBeHidden();
  await expect(paper).toHaveCSS('color', 'rgb(31, 35, 40)');
  await page.emulateMedia({ media: null, colorScheme: null });
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  await expect(paper.locator('tr')).toHaveCount(0);
  const pages = (await page.pdf()).toString('latin1').match(/\/Type \/Page\b/g);
  expect(pages!.length).toBeGreaterThan(2);
  alone(log);
});
