import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import { expect, type Locator } from '@playwright/test';
import { base, listen, type ILog } from './jupyterlab';

/**
 * Tests in JupyterLab, which stands at its launcher and shows the files of the root. Every one fails when the
 * page complains or asks another host.
 */
export const test = base.extend<{
  page: IJupyterLabPageFixture;
  log: ILog;
}>({
  page: async ({ cleanLab }, use) => use(await cleanLab()),
  log: [
    async ({ page }, use) => {
      const { log, end } = listen(page);
      await use(log);
      end();
      expect(log.foreign).toEqual([]);
      expect(log.errors.filter(text => !log.excused.includes(text))).toEqual(
        []
      );
    },
    { auto: true }
  ]
});

/** The document in front. */
export function current(page: IJupyterLabPageFixture): Locator {
  return page.locator('.oad-LabPanel:visible');
}

/** Opens a file as people do and waits for its picture. */
export async function openModel(
  page: IJupyterLabPageFixture,
  name: string
): Promise<Locator> {
  await page.locator(`.jp-DirListing-item[title^="Name: ${name}"]`).dblclick();
  const panel = current(page);
  await expect(
    panel.locator('.oad-GraphHost[data-scene-version]')
  ).toBeVisible();
  return panel;
}
