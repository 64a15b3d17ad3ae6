// What stands in the picture for something else: stubs for wires, one pill for several inputs.

import type { Page } from '@playwright/test';
import {
  box,
  expect,
  graph,
  inspector,
  open,
  rectOf,
  reveal,
  statusText,
  setOpen,
  test
} from './pages';

const selected = (page: Page) => graph(page).locator('.oad-ring-selected');

for (const width of [700, 1000, 1400]) {
  test(`the initial view of an encoder shows all of it, ${width} px wide`, async ({
    page
  }) => {
    await open(page, 'bert_dyn.onnx', { width });
    const pane = await rectOf(graph(page));
    for (const name of [/BertEmbeddings/, /BertLayer ×12/]) {
      const { x, width } = await rectOf(box(page, name));
      expect(x).toBeGreaterThan(pane.x);
      expect(x + width).toBeLessThan(pane.x + pane.width);
    }
    // The mask is a chip on the card of what reads it.
    const chip = graph(page).getByText(/^mask · \d+$/);
    const { x, width: extent } = await rectOf(chip);
    expect(x).toBeGreaterThan(pane.x);
    expect(x + extent).toBeLessThan(pane.x + pane.width);
  });
}

test('M expands the chip of a box to a separate box and back', async ({
  page
}) => {
  await open(page, 'bert_dyn.onnx', { width: 1000 });
  const mask = box(page, /^Mask/);
  await expect(mask).toHaveCount(0);
  await box(page, /BertLayer ×12.*prepared by mask/).click();
  await page.keyboard.press('m');
  await expect(mask).toHaveCount(1);
  await page.keyboard.press('m');
  await expect(mask).toHaveCount(0);
});

test('a connector names both of its ends and selects them', async ({
  page
}) => {
  await open(page, 'bert_base.onnx');
  await setOpen(page, /BertLayer ×12/, true);
  const name = 'Tensor where, 1×1×128×128, from Where node_where, to 12 nodes';
  const stub = box(page, name);
  await stub.hover();
  await expect(graph(page)).toHaveAttribute('title', name);
  // What makes it, twelve layers, and a stub for each but the first.
  await expect(graph(page).locator('.oad-ring-consumer')).toHaveCount(24);
  await stub.click();
  await expect(inspector(page)).toContainText('1×1×128×128');
  await expect(inspector(page)).toContainText('Consumers12');
  await expect(selected(page)).not.toHaveCount(0);
  await inspector(page)
    .getByRole('button', { name: /node_where/ })
    .click();
  await expect(statusText(page)).toHaveText('Selected: node_where');
});

test('Enter on a connector opens the inspector if it was closed', async ({
  page
}) => {
  await open(page, 'bert_base.onnx');
  await setOpen(page, /BertLayer ×12/, true);
  const stub = box(page, /^Tensor where/);
  await stub.click();
  await page.keyboard.press('d');
  await expect(inspector(page)).toHaveCount(0);
  await graph(page).focus();
  await stub.focus();
  await page.keyboard.press('Enter');
  await expect(inspector(page)).toContainText('where');
});

test('grouped inputs are selected together, and one can be picked', async ({
  page
}) => {
  await open(page, 'llama_cache.onnx');
  const pill = box(page, /^6 inputs: .*keys/);
  await pill.click();
  await expect(inspector(page)).toContainText('Tensors6');
  await expect(inspector(page)).toContainText('Total size98.3 kB (98,304)');
  await expect(selected(page)).toHaveCount(1);
  await inspector(page)
    .getByRole('button', { name: /layers\.3\.keys/ })
    .click();
  await expect(inspector(page)).toContainText('Grouped inputs');
  await expect(inspector(page)).toContainText('16.4 kB');
  await page.getByRole('button', { name: 'Select all', exact: true }).click();
  await expect(inspector(page)).toContainText('Total size98.3 kB (98,304)');
});

test('the toolbar keeps all its tools and room for the query in a narrow tab', async ({
  page
}) => {
  await open(page, 'ten_thousand.onnx', { width: 700 });
  await reveal(page, 'op=Softmax');
  const search = page.getByRole('textbox', { name: 'Find in the model' });
  await search.fill('op=Softmax');
  await expect(page.locator('.oad-Search-count')).toHaveText(/218$/);
  expect((await rectOf(search)).width).toBeGreaterThan(60);
  const bar = page.getByRole('toolbar', { name: 'Viewer' });
  const overflow = await bar.evaluate(e => e.scrollWidth - e.clientWidth);
  expect(overflow).toBe(0);
});
