import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import { expect, type Locator } from '@playwright/test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = process.env.JUPYTERLAB_GALATA_ROOT_DIR ?? '';

/** A notebook of these cells, open and with a kernel. */
export async function notebook(
  page: IJupyterLabPageFixture,
  name: string,
  cells: readonly string[]
): Promise<void> {
  const content = {
    cells: cells.map((source, index) => ({
      cell_type: 'code',
      execution_count: null,
      id: `cell${index}`,
      metadata: {},
      outputs: [],
      source
    })),
    metadata: {
      kernelspec: { display_name: 'Python 3', name: 'python3' }
    },
    nbformat: 4,
    nbformat_minor: 5
  };
  // Written, not typed: what people do in cells is JupyterLab's matter.
  writeFileSync(join(root, name), JSON.stringify(content));
  await page.evaluate(async path => {
    const panel = await window.jupyterapp.commands.execute('docmanager:open', {
      path,
      factory: 'Notebook'
    });
    await panel.sessionContext.ready;
  }, name);
}

/** Waits until the widget has drawn its model. */
export async function waitUntilDrawn(widget: Locator): Promise<void> {
  await expect(
    widget.locator('.oad-GraphHost[data-scene-version]')
  ).toBeVisible();
}

/** Runs a cell of the current notebook. Waits for the kernel's reply: the status bar may miss that it is idle. */
export async function runCell(
  page: IJupyterLabPageFixture,
  cell: number
): Promise<void> {
  await page.evaluate(async index => {
    const { commands, shell } = window.jupyterapp;
    const { content } = shell.currentWidget as unknown as {
      content: { activeCellIndex: number; deselectAll(): void };
    };
    content.deselectAll();
    content.activeCellIndex = index;
    await commands.execute('notebook:run-cell');
  }, cell);
}

/** Closes the current notebook, without saving, and ends its kernel. */
export async function closeNotebook(
  page: IJupyterLabPageFixture
): Promise<void> {
  const session = await page.evaluate(() => {
    const { context } = window.jupyterapp.shell.currentWidget as unknown as {
      context: { sessionContext: { session: { id: string } } };
    };
    return context.sessionContext.session.id;
  });
  await page.notebook.close(true);
  await page.evaluate(
    id => window.jupyterapp.serviceManager.sessions.shutdown(id),
    session
  );
}
