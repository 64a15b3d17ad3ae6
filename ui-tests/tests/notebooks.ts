import { expect, type IJupyterLabPageFixture } from '@jupyterlab/galata';
import type { Locator } from '@playwright/test';

/** A new notebook of these cells. */
export async function notebook(
  page: IJupyterLabPageFixture,
  name: string,
  cells: readonly string[]
): Promise<void> {
  await page.goto();
  await page.notebook.createNew(name);
  for (const [at, source] of cells.entries()) {
    if (at > 0) {
      await page.notebook.addCell('code', source);
    } else {
      await page.notebook.setCell(0, 'code', source);
    }
  }
}

/** Waits until the widget has drawn its model. */
export async function drawn(widget: Locator): Promise<void> {
  await expect(
    widget.locator('.oad-GraphHost[data-scene-version]')
  ).toBeVisible();
}
