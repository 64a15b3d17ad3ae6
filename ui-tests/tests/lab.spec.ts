import { expect } from '@playwright/test';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { current, openModel, test } from './helpers';
import { box, pick, rectOf, reveal } from './pages';

const root = process.env.JUPYTERLAB_GALATA_ROOT_DIR ?? '';

test('a double click shows the graph; a click on a node shows its MACs', async ({
  page,
  log
}) => {
  const panel = await openModel(page, 'resnet50.onnx');
  const totals = panel.getByRole('group', { name: 'Totals' });
  await expect(totals).toContainText('4.09 G');
  await expect(totals).toContainText('25.5 M');
  await reveal(panel, 'node_Conv_753');
  await pick(panel, /^Conv/);
  const inspector = panel.locator('.oad-Inspector');
  await expect(inspector).toContainText('118,013,952');
  await expect(inspector).toContainText('236,830,720');
  await expect(inspector).toContainText('64×3×7×7');
  await expect(inspector).toContainText('group');
  // Operator documentation comes from the ONNX schema.
  await expect(inspector).toContainText('The convolution operator');
  expect(log.foreign).toEqual([]);
  expect(log.errors).toEqual([]);
});

test('the bytes of a 300 MB model never reach the browser and no checkpoint is written', async ({
  page,
  log
}) => {
  await openModel(page, 'big.onnx');
  await page.keyboard.press('Control+s');
  await expect(page.locator('.Toastify__toast')).toContainText('read-only');
  const about = log.requests.filter(r => r.url.includes('big.onnx'));
  expect(about.length).toBeGreaterThan(0);
  expect(about.filter(r => r.url.includes('content=1'))).toEqual([]);
  expect(about.filter(r => r.method === 'PUT')).toEqual([]);
  expect(
    about.filter(r => r.method === 'POST' && r.url.includes('checkpoints'))
  ).toEqual([]);
  const requests = log.requests
    .filter(r => r.url.includes('/api/'))
    .reduce((sum, r) => sum + Math.max(0, r.bytes), 0);
  expect(requests).toBeLessThan(1_000_000);
  const checkpoints = path.join(root, '.ipynb_checkpoints');
  const copies = fs.existsSync(checkpoints) ? fs.readdirSync(checkpoints) : [];
  expect(copies.filter(name => name.includes('onnx'))).toEqual([]);
  expect(fs.statSync(path.join(root, 'big.onnx')).size).toBeGreaterThan(3e8);
});

test('search finds, counts and steps through matches, and expands blocks that hide them', async ({
  page
}) => {
  const panel = await openModel(page, 'bert_base.onnx');
  const search = panel
    .getByRole('searchbox')
    .or(panel.locator('.oad-Search-input'));
  await search.first().fill('softmax');
  await expect(panel.locator('.oad-Search-count')).toContainText('12');
  await search.first().press('Enter');
  await expect(panel.locator('.oad-Inspector')).toContainText('Softmax');
  await expect(
    panel.getByRole('button', { name: /^Softmax\b/ }).first()
  ).toBeVisible();
});

test('the heatmap colours the graph and names its scale', async ({ page }) => {
  const panel = await openModel(page, 'resnet50.onnx');
  await panel
    .getByRole('combobox', { name: 'Heatmap' })
    .selectOption({ label: 'Parameters' });
  await expect(panel.locator('.oad-Legend')).toContainText('Parameters');
  await panel
    .getByRole('combobox', { name: 'Heatmap' })
    .selectOption({ label: 'None' });
  await expect(panel.locator('.oad-Legend')).toHaveCount(0);
  await panel.locator('.oad-GraphHost').click({ position: { x: 5, y: 5 } });
  await page.keyboard.press('h');
  await expect(panel.locator('.oad-Legend')).toBeVisible();
});

test('the table and the graph share the selection', async ({ page }) => {
  const panel = await openModel(page, 'resnet50.onnx');
  await panel.getByRole('tab', { name: /Layers/ }).click();
  const table = panel.getByRole('grid', { name: 'Layers' });
  await table.getByRole('columnheader', { name: /MACs/ }).first().click();
  const row = table.getByRole('row').nth(1);
  await row.click();
  await expect(row).toHaveAttribute('aria-selected', 'true');
  await expect(panel.locator('.oad-Inspector')).toContainText('Conv');
  await pick(panel, /^MaxPool/);
  await expect(table.locator('[role=row][aria-selected=true]')).toContainText(
    'MaxPool'
  );
});

test('setting a symbolic dimension updates every number', async ({ page }) => {
  const panel = await openModel(page, 'bert_dyn.onnx');
  await panel.getByRole('tab', { name: /Dimensions/ }).click();
  const dims = panel.getByRole('tabpanel');
  const boxes = dims.getByRole('textbox');
  await expect(boxes).toHaveCount(2);
  await boxes.nth(0).fill('2');
  await boxes.nth(1).fill('128');
  await dims.getByRole('button', { name: /Apply/ }).click();
  await expect(panel.getByRole('group', { name: 'Totals' })).toContainText(
    '22.3 G'
  );
});

test('a fixed batch size can be changed in the Dimensions tab', async ({
  page,
  log
}) => {
  const panel = await openModel(page, 'resnet50.onnx');
  const requests = (): number =>
    log.requests.filter(r => /jobs\/[^/]+\/batch/.test(r.url)).length;
  expect(requests()).toBe(0);
  await panel.getByRole('tab', { name: /Dimensions/ }).click();
  const dims = panel.getByRole('tabpanel');
  await dims.getByRole('textbox', { name: 'batch' }).fill('8');
  await dims.getByRole('button', { name: 'Apply' }).click();
  await expect(panel.getByRole('group', { name: 'Totals' })).toContainText(
    '32.7 G'
  );
  expect(requests()).toBe(1);
  expect(log.errors).toEqual([]);
});

test('a decoder is planned on the chosen device', async ({ page, log }) => {
  const panel = await openModel(page, 'llama.onnx');
  const requests = (): string[] =>
    log.requests
      .map(({ url }) => url)
      .filter(url => /jobs\/[^/]+\/serving/.test(url));
  await panel.getByRole('tab', { name: 'Serving' }).click();
  const served = panel.getByRole('tabpanel');
  await served.getByRole('button', { name: 'Choose a device…' }).click();
  await page
    .getByRole('option', { name: /^NVIDIA L4\b/ })
    .first()
    .click();
  await expect(served.getByRole('slider')).toHaveCount(6);
  expect(requests()).toHaveLength(1);
  expect(requests()[0]).toContain('device=l4&');
  await page.getByLabel('Runtime').selectOption('pytorch-eager');
  await expect(served).toContainText(
    'Assumed: the model runs in PyTorch, eager.'
  );
  expect(requests()).toHaveLength(2);
  expect(log.errors).toEqual([]);
});

test('scripts in a model never run', async ({ page, log }) => {
  const panel = await openModel(page, 'hostile.onnx');
  await panel
    .getByRole('button', { name: /^Relu\b/ })
    .first()
    .click();
  await expect(panel.locator('.oad-Inspector')).toContainText('onerror');
  await panel.getByRole('tab', { name: /Layers/ }).click();
  await panel.getByRole('tab', { name: /Diagnostics/ }).click();
  await expect(panel.getByRole('tabpanel')).toContainText('unknown-op');
  expect(await page.evaluate(() => 'PWNED' in window)).toBe(false);
  expect(await panel.locator('img, script').count()).toBe(0);
  expect(log.errors).toEqual([]);
});

test('a broken file shows the problem and what to do', async ({
  page,
  log
}) => {
  await page.locator('.jp-DirListing-item[title^="Name: lfs.onnx"]').dblclick();
  const fault = current(page).getByRole('alert');
  await expect(fault).toContainText('Git LFS');
  await expect(fault).toContainText('git lfs pull');
  await page
    .locator('.jp-DirListing-item[title^="Name: model.ort"]')
    .dblclick();
  await expect(current(page).getByRole('alert')).toContainText('ORT-format');
  // The browser tells the console of every answer that says no.
  const otherErrors = log.errors.filter(text => !/status of 4\d\d/.test(text));
  expect(otherErrors).toEqual([]);
  log.errors.length = 0;
});

test('a file that changed on disk offers a reload', async ({ page }) => {
  const file = path.join(root, 'changing.onnx');
  fs.copyFileSync(path.join(root, 'resnet_tiny.onnx'), file);
  await page.filebrowser.refresh();
  const panel = await openModel(page, 'changing.onnx');
  await expect(panel.getByRole('group', { name: 'Totals' })).toContainText(
    '3.73 M'
  );
  fs.copyFileSync(path.join(root, 'resnet50.onnx'), file);
  const reload = panel.getByRole('alert').or(panel.locator('.oad-Banner'));
  await expect(reload.first()).toContainText(/changed/i);
  await reload
    .first()
    .getByRole('button', { name: /Reload/ })
    .click();
  await expect(panel.getByRole('group', { name: 'Totals' })).toContainText(
    '4.09 G'
  );
});

test('the document and its view are restored after a reload of the page', async ({
  page
}) => {
  const panel = await openModel(page, 'resnet_tiny.onnx');
  await expect(page).toHaveURL(/resnet_tiny\.onnx/);
  // The viewer reports its state once things are at rest; Lab writes it a little later.
  const saved = page.waitForResponse(
    response =>
      response.request().method() === 'PUT' &&
      /"overlay":\s*"params"/.test(response.request().postData() ?? '')
  );
  await panel.locator('.oad-Viewer select').first().selectOption('params');
  await saved;
  await page.reload({ waitForIsReady: false });
  await expect(
    current(page).locator('.oad-GraphHost[data-scene-version]')
  ).toBeVisible();
  await expect(current(page).locator('.oad-Viewer select').first()).toHaveValue(
    'params'
  );
});

test('opens from the palette, by URL and a second view of one file', async ({
  page,
  baseURL
}) => {
  // Not Galata's goto: it waits for the launcher, which does not show beside a document.
  await page.evaluate(url => {
    window.location.href = url;
  }, `${baseURL}/lab/tree/resnet_tiny.onnx`);
  await expect(
    current(page).locator('.oad-GraphHost[data-scene-version]')
  ).toBeVisible();
  await page.evaluate(async () => {
    await window.jupyterapp.commands.execute('docmanager:open', {
      path: 'resnet_tiny.onnx',
      factory: 'ONNX Autodoc',
      options: { mode: 'split-right' }
    });
    await window.jupyterapp.commands.execute('docmanager:clone');
  });
  await expect(page.locator('.oad-GraphHost[data-scene-version]')).toHaveCount(
    2
  );
  await page.evaluate(() =>
    window.jupyterapp.commands.execute('onnx-autodoc:open', {
      path: 'resnet50.onnx'
    })
  );
  await expect(
    current(page).filter({ hasText: '4.09 G' }).first()
  ).toBeVisible();
});

test('everything is reachable by keyboard', async ({ page }) => {
  const panel = await openModel(page, 'bert_base.onnx');
  // Enter brings what is off screen into view and selects it.
  await page.keyboard.press('Control+f');
  await expect(panel.locator('.oad-Search-input')).toBeFocused();
  await page.keyboard.type('layer.3');
  await expect(panel.locator('.oad-Search-count')).toHaveText(/\/\d+$/);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  const group = panel.getByRole('button', { name: /BertLayer layer\.3/ });
  const before = await panel
    .locator('.oad-GraphHost')
    .getAttribute('data-scene-version');
  await group.focus();
  await page.keyboard.press('Enter');
  await expect(panel.locator('.oad-GraphHost')).not.toHaveAttribute(
    'data-scene-version',
    before ?? ''
  );
  await page.keyboard.press('ArrowRight');
  await expect(panel.locator('.oad-GraphHost [role=button]:focus')).toHaveCount(
    1
  );
});

test('keys work after a double click and after returning to the tab', async ({
  page
}) => {
  const panel = await openModel(page, 'resnet_tiny.onnx');
  const sceneVersion = (): Promise<string | null> =>
    panel.locator('.oad-GraphHost').getAttribute('data-scene-version');
  const focused = panel.locator('.oad-GraphHost [role=button]:focus');
  const before = await sceneVersion();
  await page.keyboard.press('k');
  await expect.poll(sceneVersion).not.toBe(before);
  // Arrows are about the graph although nothing in it was clicked.
  await page.keyboard.press('ArrowDown');
  await expect(focused).toHaveCount(1);
  await page.keyboard.press('?');
  await expect(panel.getByRole('dialog')).toBeVisible();
  await page.keyboard.press('Escape');

  await openModel(page, 'bert_base.onnx');
  await page.keyboard.press('Control+f');
  await expect(current(page).locator('.oad-Search-input')).toBeFocused();
  // By its tab, as people do.
  await page.locator('.lm-TabBar-tab', { hasText: 'resnet_tiny.onnx' }).click();
  await expect(
    panel.locator('.oad-GraphHost[data-scene-version]')
  ).toBeVisible();
  await page.keyboard.press('Control+f');
  await expect(panel.locator('.oad-Search-input')).toBeFocused();
});

test('the focus stays where the user put it while a model opens', async ({
  page
}) => {
  await page.evaluate(() => {
    void window.jupyterapp.commands.execute('docmanager:open', {
      path: 'resnet_tiny.onnx',
      factory: 'ONNX Autodoc'
    });
  });
  await page.locator('.oad-LabPanel').waitFor({ state: 'attached' });
  await page.keyboard.press('Control+Shift+c');
  const palette = page.locator(
    '#command-palette input, .lm-CommandPalette-input'
  );
  await expect(palette.first()).toBeFocused();
  await expect(
    current(page).locator('.oad-GraphHost[data-scene-version]')
  ).toBeVisible();
  await expect(palette.first()).toBeFocused();
});

test('a tooltip describes the box under the pointer', async ({ page }) => {
  const panel = await openModel(page, 'resnet50.onnx');
  await reveal(panel, 'op=MaxPool');
  const rect = await rectOf(box(panel, /^MaxPool/));
  await page.mouse.move(rect.x + rect.width / 2, rect.y + 5, { steps: 3 });
  const tip = panel.getByRole('tooltip');
  await expect(tip).toContainText('MaxPool 3×3, stride 2');
  await expect(tip).toContainText('1×64×56×56');
  await page.keyboard.press('Escape');
  await expect(tip).toHaveCount(0);
});

test('the dark theme is applied', async ({ page }, info) => {
  await page.theme.setDarkTheme();
  const panel = await openModel(page, 'bert_base.onnx');
  const colour = await panel
    .locator('.oad-Viewer')
    .evaluate(element => getComputedStyle(element).backgroundColor);
  const [r, g, b] = (colour.match(/\d+/g) ?? []).map(Number);
  expect(Math.max(r, g, b)).toBeLessThan(80);
  const shot = await panel.screenshot({ path: info.outputPath('dark.png') });
  expect(shot.byteLength).toBeGreaterThan(10_000);
});
