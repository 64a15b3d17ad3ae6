// Scans by axe-core of the viewer in JupyterLab and in a notebook: our part of the page, not JupyterLab's.

import { expect } from '@playwright/test';
import { clean } from './axe';
import { current, openModel, test } from './helpers';
import { notebook, runCell } from './notebooks';
import { box, pick, setOpen } from './pages';

const PANEL = '.oad-LabPanel .oad-Viewer';

for (const theme of ['light', 'dark'] as const) {
  test(`graph, tables and inspector in JupyterLab; ${theme}`, async ({
    page
  }) => {
    if (theme === 'dark') {
      await page.theme.setDarkTheme();
    }
    const panel = await openModel(page, 'bert_dyn.onnx');
    await clean(page, PANEL);
    await pick(panel, /^GatherElements/);
    await expect(panel.locator('.oad-Inspector')).toContainText('Gather');
    await panel.getByRole('tab', { name: 'Layers' }).click();
    await panel.getByRole('grid').getByRole('row').nth(2).click();
    await clean(page, PANEL);
    await page.keyboard.press('Shift+O');
    await panel.getByRole('tab', { name: 'Memory' }).click();
    await page.keyboard.press('Shift+F10');
    await clean(page, PANEL);
  });
}

test('an error message, and the loading state', async ({ page }) => {
  await page.locator('.jp-DirListing-item[title^="Name: lfs.onnx"]').dblclick();
  await expect(current(page).getByRole('alert')).toContainText('Git LFS');
  await clean(page, '.oad-LabPanel:not(.lm-mod-hidden) .oad-Viewer');

  // The analysis takes as long as the scan needs.
  let release = (): void => undefined;
  const released = new Promise<void>(resolve => {
    release = resolve;
  });
  await page.route(/autodoc\/api\/jobs/, async route => {
    await released;
    await route.continue();
  });
  await page
    .locator('.jp-DirListing-item[title^="Name: resnet_tiny.onnx"]')
    .dblclick();
  await expect(current(page).getByRole('progressbar')).toBeVisible();
  await clean(page, '.oad-LabPanel:not(.lm-mod-hidden) .oad-Viewer');
  release();
  await expect(
    current(page).locator('.oad-GraphHost[data-scene-version]')
  ).toBeVisible();
  await page.unrouteAll({ behavior: 'wait' });
});

test('a link opens the same view in JupyterLab', async ({ page }) => {
  const context = page.context();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const panel = await openModel(page, 'bert_dyn.onnx');
  const block = box(panel, /^BertEmbeddings/);
  const asFirst = (await block.getAttribute('aria-expanded')) === 'true';
  await setOpen(panel, /^BertEmbeddings/, !asFirst);
  await page.keyboard.press('Shift+L');
  await expect(panel.locator('.oad-Viewer > [role=status]')).toHaveText(
    'Copied.'
  );
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toMatch(/\/tree\/bert_dyn\.onnx#view=/);
  await page.evaluate(url => {
    window.location.href = url;
    window.location.reload();
  }, link);
  const reopened = current(page);
  await expect(
    reopened.locator('.oad-GraphHost[data-scene-version]')
  ).toBeVisible();
  await expect(box(reopened, /^BertEmbeddings/)).toHaveAttribute(
    'aria-expanded',
    String(!asFirst)
  );
  await expect(reopened.locator('.oad-Inspector')).toContainText(
    'BertEmbeddings'
  );
  await context.clearPermissions();
});

test('widget in a notebook', async ({ page }) => {
  await notebook(page, 'a11y.ipynb', [
    "from py_autodoc import Autodoc\nAutodoc('resnet_tiny.onnx', height=420)"
  ]);
  await runCell(page, 0);
  const widget = page.locator('.oad-Widget');
  await expect(
    widget.locator('.oad-GraphHost[data-scene-version]')
  ).toBeVisible();
  await widget.getByRole('tab', { name: 'Layers' }).click();
  await clean(page, '.oad-Widget .oad-Viewer');
});
