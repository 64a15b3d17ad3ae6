import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import { expect } from '@playwright/test';
import { openModel, test } from './helpers';

/** The user's own shortcuts, as the keyboard settings of JupyterLab write them. */
async function bind(
  page: IJupyterLabPageFixture,
  shortcuts: object[]
): Promise<void> {
  await page.evaluate(async shortcuts => {
    const registry = (await window.galata.getPlugin(
      '@jupyterlab/apputils-extension:settings'
    )) as unknown as {
      set(plugin: string, key: string, value: unknown): Promise<void>;
    };
    await registry.set(
      '@jupyterlab/shortcuts-extension:shortcuts',
      'shortcuts',
      shortcuts
    );
  }, shortcuts);
}

const SELECTOR =
  '.oad-LabPanel :focus:not(:read-write):not(select):not([role=menuitem]):not(.oad-Merged *)';

test('default shortcuts work, and text boxes take text', async ({ page }) => {
  const panel = await openModel(page, 'resnet_tiny.onnx');
  const outline = panel.locator('.oad-Outline');
  const start = await outline.count();
  await page.keyboard.press('Shift+O');
  await expect(outline).toHaveCount(1 - start);
  await page.keyboard.press('Shift+O');
  await expect(outline).toHaveCount(start);
  await page.keyboard.press('Control+f');
  const search = panel.locator('.oad-Search-input');
  await expect(search).toBeFocused();
  await page.keyboard.type('The cOnv');
  await expect(search).toHaveValue('The cOnv');
  await expect(outline).toHaveCount(start);
});

test('a key bound by the user replaces the default one, also in the help', async ({
  page
}) => {
  const panel = await openModel(page, 'resnet_tiny.onnx');
  const outline = panel.locator('.oad-Outline');
  await bind(page, [
    {
      command: 'onnx-autodoc:run',
      args: { action: 'toggle-outline' },
      keys: ['Shift O'],
      selector: SELECTOR,
      disabled: true
    },
    {
      command: 'onnx-autodoc:run',
      args: { action: 'toggle-outline' },
      keys: ['Alt Shift J'],
      selector: SELECTOR
    }
  ]);
  await panel.locator('.oad-Viewer').focus();
  await page.keyboard.press('?');
  const help = panel.getByRole('dialog', { name: 'Keyboard shortcuts' });
  const row = help.locator('div', {
    has: page.locator('dt', { hasText: /^Outline$/ })
  });
  await expect(row.locator('kbd')).toHaveText(['Alt+Shift+J']);
  await page.keyboard.press('Escape');
  await expect(help).toBeHidden();
  const start = await outline.count();
  await page.keyboard.press('Shift+O');
  await page.keyboard.press('Alt+Shift+J');
  await expect(outline).toHaveCount(1 - start);
  await page.keyboard.press('Alt+Shift+J');
  await expect(outline).toHaveCount(start);
});

test('the palette names the actions', async ({ page }) => {
  await openModel(page, 'resnet_tiny.onnx');
  await page.keyboard.press('Control+Shift+C');
  const palette = page.locator('#command-palette, .lm-CommandPalette').first();
  await page.keyboard.type('ONNX Autodoc');
  await expect(palette.getByText('Expand All', { exact: true })).toBeVisible();
  await expect(palette.getByText('Open ONNX Model…')).toBeVisible();
});
