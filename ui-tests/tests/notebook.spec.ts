// The widget in a notebook with a real kernel.

import { expect, type Locator } from '@playwright/test';
import { test } from './helpers';
import { waitUntilDrawn, notebook, runCell } from './notebooks';
import { rectOf } from './pages';

test('a cell shows the model, and its selection is a Python value', async ({
  page,
  log
}) => {
  await notebook(page, 'widget.ipynb', [
    "from py_autodoc import Autodoc\nw = Autodoc('bert_dyn.onnx', height=420)\nw",
    '[layer.type for layer in w.selected_layers]',
    "w.show('node_layer_norm')",
    "w.overlay = {'node_layer_norm': 3.5}",
    "len(w.find('op=Softmax')), w.overlay['values']"
  ]);
  await runCell(page, 0);
  const widget = page.locator('.oad-Widget');
  await waitUntilDrawn(widget);
  await expect(widget.getByRole('group', { name: 'Totals' })).toContainText(
    '11.2 G'
  );

  const search = widget.getByRole('textbox', { name: 'Find in the model' });
  await search.fill('op=Shape');
  await search.press('Enter');
  await expect(widget.locator('.oad-Inspector')).toContainText('Shape');
  await runCell(page, 1);
  expect(await page.notebook.getCellTextOutput(1)).toEqual(["['Shape']"]);

  await runCell(page, 2);
  await expect(widget.locator('.oad-Inspector')).toContainText(
    'LayerNormalization'
  );
  await runCell(page, 3);
  await expect(widget.locator('.oad-Legend')).toContainText('3.5');
  await runCell(page, 4);
  expect((await page.notebook.getCellTextOutput(4))?.[0]).toContain('(12, ');
  expect(log.foreign).toEqual([]);
});

test('a slider linked in the page updates the numbers, and the kernel gets the value', async ({
  page,
  log
}) => {
  await notebook(page, 'linked.ipynb', [
    [
      'import ipywidgets as W',
      'from py_autodoc import Autodoc',
      "w = Autodoc('bert_dyn.onnx', height=420)",
      "s = W.IntSlider(1, 1, 64, description='slide')",
      "d = w.dim('batch')",
      "link = W.jslink((s, 'value'), (d, 'value'))",
      'W.VBox([s, d, w])'
    ].join('\n'),
    "w.dims['batch'], d.value, s.value, w.report.metrics.total_macs"
  ]);
  await runCell(page, 0);
  const widget = page.locator('.oad-Widget');
  await waitUntilDrawn(widget);
  const totals = widget.getByRole('group', { name: 'Totals' });
  await expect(totals).toContainText('11.2 G');

  const slider = page.getByRole('slider').first();
  await slider.focus();
  for (let i = 0; i < 7; i++) {
    await page.keyboard.press('ArrowRight');
  }
  await expect(totals).toContainText('89.4 G');
  await expect(page.locator('input[type=number]')).toHaveValue('8');
  // ipywidgets holds the last values back while the kernel is at work.
  await expect(async () => {
    await runCell(page, 1);
    expect(await page.notebook.getCellTextOutput(1)).toEqual([
      '(8, 8, 8, 89389006848)'
    ]);
  }).toPass();

  // And back: the viewer's own box moves the slider.
  await widget.getByRole('tab', { name: /Dimensions/ }).click();
  await widget.getByRole('textbox', { name: 'batch' }).fill('2');
  await widget.getByRole('button', { name: 'Apply' }).click();
  await expect(totals).toContainText('22.3 G');
  await expect(slider).toHaveAttribute('aria-valuetext', '2');
  expect(log.foreign).toEqual([]);
});

test('widgets in boxes share a row, and hidden ones are drawn when they are shown', async ({
  page,
  log
}) => {
  await notebook(page, 'boxes.ipynb', [
    [
      'import ipywidgets as W',
      'from py_autodoc import Autodoc',
      "made = [Autodoc('resnet_tiny.onnx', height=260) for _ in range(5)]",
      "tab = W.Tab(made[2:4], titles=['one', 'two'])",
      "shut = W.Accordion(made[4:], titles=['shut'])",
      'W.VBox([W.HBox(made[:2]), tab, shut])'
    ].join('\n')
  ]);
  await runCell(page, 0);
  const widgets = page.locator('.oad-Widget');
  for (const index of [0, 1, 2]) {
    await waitUntilDrawn(widgets.nth(index));
  }
  const [left, right] = await Promise.all(
    [0, 1].map(index => rectOf(widgets.nth(index)))
  );
  expect(left.width).toBeGreaterThan(320);
  expect(Math.abs(left.width - right.width)).toBeLessThan(2);
  const boxes = (index: number): Locator =>
    widgets.nth(index).locator('.oad-GraphHost [role=button]');
  await page.getByRole('tab', { name: 'two' }).click();
  await expect(boxes(3).first()).toBeVisible();
  await page.getByText('shut', { exact: true }).click();
  await expect(boxes(4).first()).toBeVisible();
  expect(log.foreign).toEqual([]);
  expect(log.errors).toEqual([]);
});

test('one widget in two cells: changes in one view apply to the other', async ({
  page
}) => {
  await notebook(page, 'twice.ipynb', [
    "from py_autodoc import Autodoc\nw = Autodoc('resnet_tiny.onnx', height=300)\nw",
    'w'
  ]);
  await runCell(page, 0);
  await runCell(page, 1);
  const widgets = page.locator('.oad-Widget');
  await waitUntilDrawn(widgets.first());
  await waitUntilDrawn(widgets.last());
  const open = (index: number): Locator =>
    widgets
      .nth(index)
      .locator('.oad-GraphHost [role=button]', { hasText: /^ResNetBottle/ })
      .first();
  await open(1).dblclick();
  await expect(open(1)).toHaveAttribute('aria-expanded', 'true');
  await expect(open(0)).toHaveAttribute('aria-expanded', 'true');
});

test('two models are compared: stepping through changes, only changes, blocks, merged graph', async ({
  page,
  log
}) => {
  await notebook(page, 'compared.ipynb', [
    "from py_autodoc.widget import compare\npair = compare('bert_base.onnx', 'bert_dyn.onnx', height=520)\npair",
    'len(pair.left.selected_names) + len(pair.right.selected_names)'
  ]);
  await runCell(page, 0);
  const widgets = page.locator('.oad-Widget');
  await waitUntilDrawn(widgets.first());
  await waitUntilDrawn(widgets.last());
  const right = widgets.last();
  await expect(right.locator('.oad-Compare')).toContainText('26 only here');

  await right.getByRole('button', { name: 'Next change' }).click();
  await runCell(page, 1);
  expect((await page.notebook.getCellTextOutput(1))?.[0]).toMatch(/^[12]$/);
  await right.getByRole('button', { name: 'Only changes' }).click();
  await expect(right).toContainText(/\d+ of 396 nodes differ/);
  await right.getByRole('tab', { name: 'Changes' }).click();
  await expect(right.getByRole('tabpanel')).toContainText(
    /Only blocks that differ \(\d+ of \d+\)/
  );

  await right.getByRole('button', { name: 'Merge', exact: true }).click();
  const merged = right.getByRole('region', { name: 'Merged graph' });
  await waitUntilDrawn(merged);
  await expect(merged).toContainText('+ 26 added');
  await page.keyboard.press('c');
  await expect(merged).toContainText(/Change 1 of \d+/);
  await merged.getByRole('button', { name: 'Side by side' }).click();
  await expect(merged).toHaveCount(0);
  expect(log.foreign).toEqual([]);
});
