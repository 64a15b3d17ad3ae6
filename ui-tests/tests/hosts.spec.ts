// The widget in hosts built like VS Code and Colab, with a real kernel: frames without an origin, VS Code's own
// widget manager under rules that forbid workers, one of the kind Colab has. The products themselves are not here.

import { expect, type Locator } from '@playwright/test';
import { Opened } from './hosts/serve';
import type { Host } from './hosts/wire';
import { base } from './jupyterlab';

const HOSTS: readonly Host[] = ['vscode', 'colab'];

/** Opens a host; the test fails when something was asked of others or an error was written. */
const test = base.extend<{ open: (host: Host) => Promise<Opened> }>({
  open: async ({ page }, use) => {
    const pages: Opened[] = [];
    await use(async host => {
      const opened = await Opened.open(page, host);
      pages.push(opened);
      return opened;
    });
    for (const { log } of pages) {
      expect(log.foreign).toEqual([]);
      expect(log.errors).toEqual([]);
    }
  }
});

/** A kernel has to start first, which takes long on a busy machine. */
async function waitUntilDrawn(output: Locator): Promise<void> {
  await expect(
    output.locator('.oad-GraphHost[data-scene-version]')
  ).toBeVisible({
    timeout: 60_000
  });
}

const totals = (output: Locator): Locator =>
  output.getByRole('group', { name: 'Totals' });

async function find(output: Locator, query: string): Promise<void> {
  const search = output.getByRole('textbox', { name: 'Find in the model' });
  await search.fill(query);
  await search.press('Enter');
}

for (const host of HOSTS) {
  test(`${host}: the widget is drawn, and changes on either side reach the other`, async ({
    open
  }) => {
    const opened = await open(host);
    await opened.cell(
      'from py_autodoc import Autodoc',
      "w = Autodoc('bert_dyn.onnx', height=520)",
      'w'
    );
    const widget = opened.frame().locator('.oad-Widget');
    await waitUntilDrawn(widget);
    await expect(totals(widget)).toContainText('11.2 G');

    // From the page to Python.
    await widget
      .locator('.oad-GraphHost [role=button]', { hasText: /^BertEmbeddings/ })
      .first()
      .click();
    const inspector = widget.locator('.oad-Inspector');
    await expect(inspector).toContainText('BertEmbeddings');
    // The kernel may hear of it after it was asked.
    await expect
      .poll(() => opened.cell('sorted({l.type for l in w.selected_layers})'))
      .toContain("'LayerNormalization'");
    await find(widget, 'op=Shape');
    await expect(inspector).toContainText('start');
    await expect
      .poll(() => opened.cell('[l.type for l in w.selected_layers]'))
      .toBe("['Shape']");

    // From Python to the page.
    await opened.cell("w.show('node_layer_norm')");
    await expect(inspector).toContainText('LayerNormalization');
    await opened.cell("w.overlay = {'node_layer_norm': 3.5}");
    await expect(widget.locator('.oad-Legend')).toContainText('3.5');
    await opened.cell("w.dims = {'batch': 4}");
    await expect(totals(widget)).toContainText('44.7 G');
    await opened.cell("w.theme = 'dark'");
    await expect(widget).toHaveAttribute('data-jp-theme-light', 'false');
    await opened.cell('w.height = 360');
    await expect(widget).toHaveCSS('height', '360px');

    // The search needs nobody.
    await find(widget, 'op=Softmax');
    await expect(inspector).toContainText('Softmax');
    expect(await opened.cell("len(w.find('op=Softmax'))")).toBe('12');

    // Its code is fetched now, from where the rest came from.
    await expect(widget.locator('.oad-Charts')).toHaveCount(0);
    await widget.getByRole('tab', { name: 'Charts' }).click();
    await expect(widget.locator('.oad-Charts')).toBeVisible();
  });
}

for (const host of HOSTS) {
  test(`${host}: a slider linked in the page updates the numbers`, async ({
    open
  }) => {
    const opened = await open(host);
    await opened.cell(
      'import ipywidgets as W',
      'from py_autodoc import Autodoc',
      "w = Autodoc('bert_dyn.onnx', height=420)",
      "s = W.IntSlider(1, 1, 64, description='slide')",
      "link = W.jslink((s, 'value'), (w.dim('batch'), 'value'))",
      'W.VBox([s, w])'
    );
    const frame = opened.frame();
    const widget = frame.locator('.oad-Widget');
    await waitUntilDrawn(widget);
    await expect(totals(widget)).toContainText('11.2 G');
    const slider = frame.getByRole('slider').first();
    await slider.focus();
    for (let i = 0; i < 7; i++) {
      await slider.press('ArrowRight');
    }
    await expect(totals(widget)).toContainText('89.4 G');
    // ipywidgets holds the last values back while the kernel is at work.
    await expect
      .poll(() => opened.cell("w.dims['batch'], s.value"))
      .toBe('(8, 8)');
  });

  test(`${host}: twenty small widgets stay usable`, async ({ open }) => {
    test.setTimeout(300_000);
    const opened = await open(host);
    await opened.cell(
      'from IPython.display import display',
      'from py_autodoc import Autodoc',
      "all = [Autodoc('resnet_tiny.onnx', height=300) for _ in range(20)]",
      'for w in all: display(w)'
    );
    const widget = (index: number): Locator =>
      host === 'vscode'
        ? opened.frame().locator('.oad-Widget').nth(index)
        : opened.frame(index).locator('.oad-Widget');
    for (const index of [0, 19, 7, 0]) {
      // A frame out of sight draws nothing, so its own elements can neither be scrolled to nor be clicked:
      // a click waits for two frames of the picture. What is above may still grow and push it away.
      const output =
        host === 'vscode'
          ? widget(index)
          : opened.page.locator('iframe').nth(index);
      await expect(async () => {
        await output.scrollIntoViewIfNeeded();
        await expect(
          widget(index).locator('.oad-GraphHost[data-scene-version]')
        ).toBeVisible({ timeout: 2_000 });
        await widget(index)
          .locator('.oad-GraphHost [role=button]', { hasText: /^ResNetEmb/ })
          // Its title: in the middle of an open block there are others.
          .click({ position: { x: 30, y: 12 }, timeout: 5_000 });
      }).toPass({ timeout: 90_000 });
      await expect(widget(index).locator('.oad-Inspector')).toContainText(
        'ResNetEmbeddings'
      );
      await expect
        .poll(() =>
          opened.cell(`sorted({l.type for l in all[${index}].selected_layers})`)
        )
        .toBe("['Conv', 'MaxPool', 'Relu']");
    }
  });

  test(`${host}: colours follow the theme of the host`, async ({ open }) => {
    const opened = await open(host);
    await opened.cell(
      'from py_autodoc import Autodoc',
      "Autodoc('resnet_tiny.onnx', height=300)"
    );
    const widget = opened.frame().locator('.oad-Widget');
    await waitUntilDrawn(widget);
    const ground = widget.locator('.oad-Viewer');
    const total = totals(widget).getByRole('button').first();
    await expect(ground).toHaveCSS('background-color', 'rgb(255, 255, 255)');
    await opened.theme('dark');
    await expect(ground).toHaveCSS('background-color', 'rgb(21, 26, 33)');
    await expect(total).toHaveCSS('color', 'rgb(240, 243, 246)');
    await opened.theme('light');
    await expect(ground).toHaveCSS('background-color', 'rgb(255, 255, 255)');
    await expect(total).toHaveCSS('color', 'rgb(31, 35, 40)');
  });
}

test('vscode: saved widget state can be explored without its kernel', async ({
  open,
  page
}) => {
  const before = await open('vscode');
  const [model, state] = JSON.parse(
    await before.cell(
      'import json, ipywidgets as W',
      'from py_autodoc import Autodoc',
      "w = Autodoc('bert_dyn.onnx', height=520)",
      's = W.IntSlider(1, 1, 64)',
      "link = W.jslink((s, 'value'), (w.dim('batch'), 'value'))",
      'box = W.VBox([s, w])',
      'print(json.dumps([box.model_id, W.Widget.get_manager_state()]))'
    )
  ) as [string, unknown];
  const after = await Opened.open(await page.context().newPage(), 'vscode');
  await after.restore(
    { 'application/vnd.jupyter.widget-state+json': state },
    model
  );
  const frame = after.frame();
  const widget = frame.locator('.oad-Widget');
  await waitUntilDrawn(widget);
  await expect(totals(widget)).toContainText('11.2 G');
  const slider = frame.getByRole('slider').first();
  await slider.focus();
  await slider.press('ArrowRight');
  await expect(totals(widget)).toContainText('22.3 G');
  await find(widget, 'op=Shape');
  await expect(widget.locator('.oad-Inspector')).toContainText('start');
  expect(after.log).toEqual({ foreign: [], errors: [] });
});

test('a large model is laid out on the page when the worker is blocked', async ({
  page
}) => {
  const opened = await Opened.open(page, 'vscode');
  await opened.cell(
    'import random',
    'from onnx import TensorProto as T, helper as h',
    'from py_autodoc import Autodoc',
    "ops = ['Relu', 'Sigmoid', 'Tanh', 'Abs', 'Neg', 'Exp', 'Floor', 'Ceil', 'Sin']",
    'pick = random.Random(1).choice',
    'nodes = [h.make_node(pick(ops), ["x"], [f"t{i}"], name=f"/a/op_{i}") for i in range(3500)]',
    'nodes.append(h.make_node("Sum", [f"t{i}" for i in range(3500)], ["y"], name="end"))',
    'x, y = (h.make_tensor_value_info(n, T.FLOAT, [1, 8]) for n in "xy")',
    'Autodoc(h.make_model(h.make_graph(nodes, "flat", [x], [y])), height=520)'
  );
  const widget = opened.frame().locator('.oad-Widget');
  await waitUntilDrawn(widget);
  await widget.getByRole('button', { name: /^Expand all/ }).click();
  await expect(
    widget.locator('.oad-GraphHost [role=button]', { hasText: /^Tanh/ }).first()
  ).toBeVisible();
  // The browser's own complaint about the rules of the page, and nothing else.
  expect(opened.log.errors).toHaveLength(1);
  expect(opened.log.errors[0]).toMatch(/^Creating a worker .* violates/);
  expect(opened.log.foreign).toEqual([]);
});

test('blocked copying and saving show a clear message', async ({ page }) => {
  const opened = await Opened.open(page, 'colab');
  await opened.cell(
    'from py_autodoc import Autodoc',
    "w = Autodoc('resnet_tiny.onnx', height=520)",
    'w'
  );
  const widget = opened.frame().locator('.oad-Widget');
  await waitUntilDrawn(widget);
  // The clipboard is closed to such frames; take away the old way, too.
  await widget.evaluate(() => {
    document.execCommand = () => false;
  });
  await widget
    .locator('.oad-GraphHost [role=button]', { hasText: /^ResNetEmb/ })
    .click();
  await page.keyboard.press('Control+c');
  const notice = widget.locator('.oad-Banner');
  await expect(notice).toContainText('blocked copying');
  await notice.getByRole('button', { name: 'Close' }).click();
  await expect(notice).toHaveCount(0);

  await widget.getByRole('button', { name: 'Export' }).click();
  await widget.getByRole('menuitem', { name: 'Save the graph as SVG' }).click();
  await expect(notice).toContainText(
    'The download of resnet_tiny.svg was started'
  );
  await expect(notice).toContainText('Python');
  expect(opened.log.foreign).toEqual([]);
  // The browser's own words; there is no exception.
  for (const text of opened.log.errors) {
    expect(text).toMatch(
      /Clipboard API has been blocked|Download is disallowed/
    );
  }
});
