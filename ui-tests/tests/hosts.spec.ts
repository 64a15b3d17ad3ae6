// The widget in hosts built like VS Code and Colab, with a real kernel: frames without an origin, VS Code's own
// widget manager under rules that forbid workers, one of the kind Colab has. The products themselves are not here.

import { expect, test as base, type Locator } from '@playwright/test';
import { Opened } from './hosts/serve';
import type { Host } from './hosts/wire';

const HOSTS: readonly Host[] = ['vscode', 'colab'];

/** Opens a host; the test fails when something was asked of others or an error was written. */
const test = base.extend<{ open: (host: Host) => Promise<Opened> }>({
  open: async ({ page }, use) => {
    const all: Opened[] = [];
    await use(async host => {
      const opened = await Opened.at(page, host);
      all.push(opened);
      return opened;
    });
    for (const { log } of all) {
      expect(log.foreign).toEqual([]);
      expect(log.errors).toEqual([]);
    }
  }
});

async function drawn(place: Locator): Promise<void> {
  await expect(place.locator('.oad-GraphHost[data-drawn]')).toBeVisible();
}

const totals = (place: Locator): Locator =>
  place.getByRole('group', { name: 'Totals' });

for (const host of HOSTS) {
  test(`${host}: drawn, and what is done on either side reaches the other`, async ({
    open
  }) => {
    const opened = await open(host);
    await opened.cell(
      'from py_autodoc import Autodoc',
      "w = Autodoc('bert_dyn.onnx', height=520)",
      'w'
    );
    const widget = opened.frame().locator('.oad-Widget');
    await drawn(widget);
    await expect(totals(widget)).toContainText('11.2 G');

    // From the page to Python.
    await widget
      .locator('.oad-GraphHost [role=button]', { hasText: /^Cast$/ })
      .first()
      .click();
    const inspector = widget.locator('.oad-Inspector');
    await expect(inspector).toContainText('Cast');
    await expect(inspector).toContainText('saturate');
    expect(await opened.cell('[l.type for l in w.selected_layers]')).toBe(
      "['Cast']"
    );

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
    const search = widget.getByRole('textbox', { name: 'Find in the model' });
    await search.fill('op=Softmax');
    await search.press('Enter');
    await expect(inspector).toContainText('Softmax');
    expect(await opened.cell("len(w.find('op=Softmax'))")).toBe('12');
  });
}
