// The widget in a notebook with a real kernel.

import { expect, test } from '@jupyterlab/galata';
import { listen } from './helpers';

const CELLS = [
  "from py_autodoc import Autodoc\nw = Autodoc('bert_base.onnx', height=420)\nw",
  '[layer.type for layer in w.selected_layers]',
  "w.show('node_layer_norm')",
  "w.overlay = {'node_layer_norm': 3.5}"
];

test.use({ autoGoto: false, tmpPath: '' });

test('a cell shows the model, and what is selected in it is a Python value', async ({
  page
}) => {
  await page.goto();
  const log = listen(page);
  await page.notebook.createNew('widget.ipynb');
  for (const [at, source] of CELLS.entries()) {
    if (at > 0) {
      await page.notebook.addCell('code', source);
    } else {
      await page.notebook.setCell(0, 'code', source);
    }
  }
  await page.notebook.runCell(0, true);
  const widget = page.locator('.oad-Widget');
  await expect(widget.locator('.oad-GraphHost[data-drawn]')).toBeVisible();
  await expect(widget.getByRole('group', { name: 'Totals' })).toContainText(
    '11.2 G'
  );

  await widget
    .locator('.oad-GraphHost [role=button]', { hasText: 'GatherElements' })
    .click();
  await expect(widget.locator('.oad-Inspector')).toContainText(
    'GatherElements'
  );
  await page.notebook.runCell(1, true);
  expect(await page.notebook.getCellTextOutput(1)).toEqual([
    "['GatherElements']"
  ]);

  await page.notebook.runCell(2, true);
  await expect(widget.locator('.oad-Inspector')).toContainText(
    'LayerNormalization'
  );
  await page.notebook.runCell(3, true);
  await expect(widget.locator('.oad-Legend')).toContainText('3.5');
  expect(log.foreign).toEqual([]);
});
