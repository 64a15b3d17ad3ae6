import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import { expect } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import * as path from 'node:path';
import type { Locator } from '@playwright/test';
import { openModel, test } from './helpers';

const root = process.env.JUPYTERLAB_GALATA_ROOT_DIR ?? '';

test.beforeAll(() => {
  execFileSync('python', ['make_variants.py', root], {
    cwd: path.join(__dirname, '..')
  });
});

type Page = IJupyterLabPageFixture;

const item = (page: Page, name: string): Locator =>
  page.locator(`.jp-DirListing-item[title^="Name: ${name}"]`);

const bars = (page: Page): Locator =>
  page.getByRole('group', { name: 'Linked view' });

/** The viewers in the order of their letters. */
async function pair(page: Page): Promise<Locator[]> {
  await expect(bars(page)).toHaveCount(2);
  await expect(
    page.locator('.oad-GraphHost[data-scene-version]:visible')
  ).toHaveCount(2);
  const panels = page.locator('.oad-LabPanel');
  return ['A', 'B'].map(letter =>
    panels.filter({
      has: page.locator('.oad-Compare-letter', { hasText: letter })
    })
  );
}

/** Selects two files and compares them from the context menu; the browser's order decides which is A. */
async function compare(page: Page, a: string, b: string): Promise<Locator[]> {
  await item(page, a).click();
  await item(page, b).click({ modifiers: ['ControlOrMeta'] });
  await item(page, b).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Compare Side by Side' }).click();
  return pair(page);
}

async function find(panel: Locator, query: string): Promise<void> {
  const search = panel.locator('.oad-Search-input');
  await search.fill(query);
  await expect(panel.locator('.oad-Search-count')).toHaveText(
    /^(none|.+\/\d+)$/
  );
  await search.press('Enter');
}

const selected = (panel: Locator): Locator =>
  panel.locator('.oad-Compare-note');

test('two files compared from the context menu are matched, and selections are linked both ways', async ({
  page
}) => {
  const panels = await compare(page, 'resnet50.onnx', 'resnet50_shallow.onnx');
  // A block of seven nodes is gone and everything behind it has another number. The file browser's
  // order decides which of the two is A.
  await expect(panels[0].locator('.oad-Compare')).toContainText(
    'Similar architecture'
  );
  const first = await panels[0].locator('.oad-Compare').innerText();
  const [full, shallow] = first.includes('7 only here')
    ? panels
    : panels.reverse();
  await expect(full.locator('.oad-Compare')).toContainText('7 only here');
  await expect(shallow.locator('.oad-Compare')).toContainText('0 only here');
  for (const panel of panels) {
    await expect(panel.getByRole('combobox', { name: 'Heatmap' })).toHaveValue(
      'changes'
    );
    await expect(panel.locator('.oad-Legend')).toContainText('Changes');
  }
  await full.getByRole('button', { name: 'Next change' }).click();
  await expect(full).toContainText(/has no counterpart in [AB]/);
  await full.getByRole('button', { name: 'Only changes' }).click();
  await expect(full).toContainText('7 of 122 nodes differ');
  await expect(shallow).toContainText('0 of 115 nodes differ');
  await full.getByRole('button', { name: 'Only changes' }).click();
  await expect(shallow.getByRole('group', { name: 'Totals' })).toContainText(
    /vs [AB] −1\.12 M \(−4\.4 %\)/
  );
  await expect(full.getByRole('group', { name: 'Totals' })).toContainText(
    /vs [AB] \+218 M \(\+5\.6 %\)/
  );
  await find(full, 'stages.3 op=Conv');
  await expect(selected(shallow)).toContainText('in the structure');
  await expect(shallow.locator('.oad-ring-selected').first()).toBeVisible();
  await full.getByRole('button', { name: '7 only here' }).click();
  await expect(full).toContainText(/7 of 7 selected have no counterpart in/);
  await expect(shallow).toContainText(/7 of 7 selected in [AB]/);
  await full.getByRole('button', { name: 'Merge', exact: true }).click();
  const merged = full.getByRole('region', { name: 'Merged graph' });
  await expect(
    merged.locator('.oad-GraphHost[data-scene-version]')
  ).toBeVisible();
  await expect(merged).toContainText(/− 7 removed|\+ 7 added/);
  await page.keyboard.press('c');
  await expect(merged).toContainText('Change 1 of 7');
  await page.keyboard.press('v');
  await expect(merged).toContainText('7 of 122 nodes differ');
  await merged.getByRole('button', { name: 'Side by side' }).click();
  await expect(merged).toHaveCount(0);
  await expect(full.locator('.oad-graph')).toBeVisible();
});

test('heatmap, expanded blocks and the link survive a reload; closing one side unlinks', async ({
  page
}) => {
  const [left, right] = await compare(page, 'bert_base.onnx', 'bert_dyn.onnx');
  await left
    .getByRole('combobox', { name: 'Heatmap' })
    .selectOption({ label: 'Parameters' });
  await expect(right.locator('.oad-Legend')).toContainText('Parameters');
  const ends = async (panel: Locator): Promise<string> =>
    panel.locator('.oad-Legend-ends').innerText();
  expect(await ends(left)).toBe(await ends(right));
  // Lab writes its state a little later.
  const saved = page.waitForResponse(
    response =>
      response.request().method() === 'PUT' &&
      /"match":\s*"tag"/.test(response.request().postData() ?? '')
  );
  await left
    .getByRole('combobox', { name: 'Match by' })
    .selectOption({ label: 'Module' });
  await expect(right.getByRole('combobox', { name: 'Match by' })).toHaveValue(
    'tag'
  );
  await saved;
  await page.reload({ waitForIsReady: false });
  const [reopened, other] = await pair(page);
  // Until then JupyterLab gives the focus to what it has opened.
  await page.evaluate(() => window.jupyterapp.restored);
  await expect(
    reopened.getByRole('combobox', { name: 'Match by' })
  ).toHaveValue('tag');
  await find(reopened, 'softmax');
  await expect(selected(other)).toContainText('same place in the module');
  await page
    .locator('.lm-TabBar-tab', { hasText: 'bert_dyn.onnx' })
    .locator('.lm-TabBar-tabCloseIcon')
    .click();
  await expect(bars(page)).toHaveCount(0);
  await expect(page.locator('.oad-LabPanel')).toHaveCount(1);
});

test('both graphs are in view after a split, whatever part was visible before', async ({
  page
}) => {
  const first = await openModel(page, 'bert_base.onnx');
  const area = (await first.locator('.oad-graph').boundingBox())!;
  await page.mouse.move(area.x + area.width / 2, area.y + area.height / 2);
  await page.mouse.wheel(2500, 400);
  await page.evaluate(() =>
    window.jupyterapp.commands.execute('onnx-autodoc:compare-with', {
      path: 'resnet_tiny.onnx'
    })
  );
  for (const panel of await pair(page)) {
    const card = panel
      .locator('.oad-graph')
      .locator('.oad-node, .oad-group, .oad-pill')
      .first();
    await expect
      .poll(async () => {
        const [pane, box] = await Promise.all([
          panel.locator('.oad-graph').boundingBox(),
          card.boundingBox()
        ]);
        return (
          pane !== null &&
          box !== null &&
          box.x > pane.x &&
          box.x < pane.x + pane.width / 2 &&
          box.y > pane.y &&
          box.y < pane.y + pane.height
        );
      })
      .toBe(true);
  }
});

test('open views are linked and unlinked by commands', async ({ page }) => {
  await openModel(page, 'resnet_tiny.onnx');
  await openModel(page, 'resnet50.onnx');
  const run = (command: string, args = {}): Promise<unknown> =>
    page.evaluate(
      ([id, size]) =>
        window.jupyterapp.commands.execute(id as string, size as never),
      [command, args]
    );
  // One of the two tabs is behind the other.
  await run('onnx-autodoc:link-views');
  await expect(page.locator('.oad-Compare')).toHaveCount(2);
  await run('onnx-autodoc:unlink-views');
  await expect(page.locator('.oad-Compare')).toHaveCount(0);
  await run('onnx-autodoc:compare-with', { path: 'bert_base.onnx' });
  const [, second] = await pair(page);
  await second.getByRole('button', { name: 'Unlink the views' }).click();
  await expect(bars(page)).toHaveCount(0);
});

test('two models of ten thousand nodes are compared', async ({ page }) => {
  const [left, right] = await compare(
    page,
    'llama_9800.onnx',
    'ten_thousand.onnx'
  );
  await expect(left.locator('.oad-Compare')).toContainText('0 only here');
  await expect(right.locator('.oad-Compare')).toContainText('184 only here');
  await find(left, 'layers.150 op=Softmax');
  await expect(selected(right)).toContainText('in the structure');
  await expect(right.locator('.oad-ring-selected').first()).toBeVisible();
});
