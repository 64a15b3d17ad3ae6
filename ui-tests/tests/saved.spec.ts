// Outputs of the notebook widget in a notebook that is opened again: what it saved is enough to explore.

import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import { expect } from '@playwright/test';
import type { Locator } from '@playwright/test';
import { test } from './helpers';
import { closeNotebook, waitUntilDrawn, notebook, runCell } from './notebooks';
import { box, setOpen } from './pages';

/** The widget manager's own complaint about a notebook without a kernel, whatever is in it. */
const NO_KERNEL = "Cannot read properties of null (reading 'kernel')";

test.beforeEach(({ log }) => {
  log.excused.push(NO_KERNEL);
});

/** Runs the cells, saves, closes and ends the kernel: nothing is left but the file. */
async function createNotebook(
  page: IJupyterLabPageFixture,
  name: string,
  cells: readonly string[]
): Promise<void> {
  await notebook(page, name, cells);
  for (const index of cells.keys()) {
    await runCell(page, index);
  }
  await waitUntilDrawn(page.locator('.oad-Widget').first());
  await page.notebook.save();
  await closeNotebook(page);
}

/** Opens it; no kernel starts unless asked for. */
async function reopen(
  page: IJupyterLabPageFixture,
  path: string,
  shouldStart = false
): Promise<void> {
  await page.evaluate(
    async ([path, shouldStart]) => {
      await window.jupyterapp.commands.execute('docmanager:open', {
        path,
        factory: 'Notebook',
        kernelPreference: { shouldStart, autoStartDefault: shouldStart }
      });
    },
    [path, shouldStart] as const
  );
}

const totals = (output: Locator): Locator =>
  output.getByRole('group', { name: 'Totals' });

for (const [title, kernel] of [
  ['without a kernel', false],
  ['with a new kernel', true]
] as const) {
  test(`the saved model can be explored ${title}`, async ({ page }) => {
    const name = `saved${Number(kernel)}.ipynb`;
    await createNotebook(page, name, [
      [
        'from py_autodoc import Autodoc',
        "w = Autodoc('bert_dyn.onnx', height=500)",
        "w.overlay = {'node_layer_norm': 3.5}",
        'w'
      ].join('\n')
    ]);
    await reopen(page, name, kernel);
    const saved = page.locator('.oad-Saved');
    await waitUntilDrawn(saved);
    await expect(page.locator('.oad-Widget')).toHaveCount(0);
    await expect(page.locator('.jp-Notebook')).not.toContainText('not found');
    await expect(totals(saved)).toContainText('11.2 G');
    // What Python had painted is still there.
    await expect(saved.locator('.oad-Legend')).toContainText('3.5');

    await setOpen(saved, /^BertEmbeddings/, true);
    await expect(box(saved, /word_embeddings|Gather/)).toBeVisible();
    const search = saved.getByRole('textbox', { name: 'Find in the model' });
    await search.fill('op=Softmax');
    await search.press('Enter');
    await expect(saved.locator('.oad-Search-count')).toHaveText('1/12');
    await expect(saved.locator('.oad-Inspector')).toContainText('Softmax');

    // Other sizes, by the expressions in the payload.
    await saved.getByRole('tab', { name: /Dimensions/ }).click();
    await saved.getByRole('slider', { name: /Size of batch/ }).fill('40');
    await expect(totals(saved)).not.toContainText('11.2 G');
  });
}

test('two saved models are linked', async ({ page }) => {
  await createNotebook(page, 'saved-pair.ipynb', [
    "from py_autodoc import side_by_side\nside_by_side('bert_base.onnx', 'bert_dyn.onnx', height=450)"
  ]);
  await reopen(page, 'saved-pair.ipynb');
  const sides = page.locator('.oad-Saved .oad-SideBySide-side');
  await expect(sides).toHaveCount(2);
  await waitUntilDrawn(sides.first());
  await waitUntilDrawn(sides.last());
  await expect(sides.first().locator('.oad-Compare')).toContainText(
    '371 of 371 matched'
  );
  // Each begins with its own first picture.
  await setOpen(sides.first(), /^BertEmbeddings/, false);
  await setOpen(sides.first(), /^BertEmbeddings/, true);
  await expect(box(sides.last(), /^BertEmbeddings/)).toHaveAttribute(
    'aria-expanded',
    'true'
  );
});

test('the models of a widget box are shown below each other, not linked', async ({
  page
}) => {
  await createNotebook(page, 'saved-box.ipynb', [
    [
      'import ipywidgets as W',
      'from py_autodoc import Autodoc',
      "w = Autodoc('bert_dyn.onnx', height=450)",
      "inner = W.Tab([w, Autodoc('resnet_tiny.onnx', height=450)])",
      'W.VBox([W.IntSlider(1, 1, 64), inner])'
    ].join('\n')
  ]);
  await reopen(page, 'saved-box.ipynb');
  const saved = page.locator('.oad-Saved');
  await expect(saved).toHaveCount(2);
  await waitUntilDrawn(saved.first());
  await expect(totals(saved.first())).toContainText('11.2 G');
  await saved.last().scrollIntoViewIfNeeded();
  await waitUntilDrawn(saved.last());
  await expect(totals(saved.last())).toContainText('3.73 M');
  // No pair: what is chosen in one is not looked for in the other.
  await expect(saved.locator('.oad-Compare')).toHaveCount(0);
  const search = saved.last().getByRole('textbox', { name: /^Find/ });
  await search.fill('op=MaxPool');
  await search.press('Enter');
  await expect(saved.last().locator('.oad-Inspector')).toContainText('MaxPool');
});

test('a model too large to be saved is shown as an image', async ({ page }) => {
  await createNotebook(page, 'saved-large.ipynb', [
    [
      'from py_autodoc import Autodoc',
      'from py_autodoc.widget import saved_output as saved',
      'saved.MAX_CHARACTERS = 10',
      "Autodoc('resnet50.onnx')"
    ].join('\n')
  ]);
  await reopen(page, 'saved-large.ipynb');
  await expect(page.locator('.oad-Output .jp-RenderedSVG img')).toBeVisible();
  await expect(page.locator('.jp-Notebook')).not.toContainText('not found');
});

test('a second view of the notebook shows the live widget too', async ({
  page
}) => {
  await notebook(page, 'alive.ipynb', [
    "from py_autodoc import Autodoc\nw = Autodoc('bert_base.onnx', height=420)\nw",
    "w.show('node_layer_norm')"
  ]);
  await runCell(page, 0);
  const widgets = page.locator('.oad-Widget');
  await waitUntilDrawn(widgets);
  await page.evaluate(() =>
    window.jupyterapp.commands.execute('docmanager:clone')
  );
  await expect(widgets).toHaveCount(2);
  await waitUntilDrawn(widgets.last());
  await expect(page.locator('.oad-Saved')).toHaveCount(0);
  await runCell(page, 1);
  for (const widget of [widgets.first(), widgets.last()]) {
    await expect(widget.locator('.oad-Inspector')).toContainText(
      'LayerNormalization'
    );
  }
});
