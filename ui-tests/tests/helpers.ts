import {
  expect,
  test as base,
  type IJupyterLabPageFixture
} from '@jupyterlab/galata';
import type { Locator } from '@playwright/test';

/** What the page asked of the server about one file, and everything suspicious it said. */
export interface ILog {
  requests: { method: string; url: string; bytes: number }[];
  foreign: string[];
  errors: string[];
  /** Complaints of others that a test expects. */
  excused: string[];
}

/** Records requests, foreign hosts and console errors from now on. */
export function listen(page: IJupyterLabPageFixture): ILog {
  const log: ILog = { requests: [], foreign: [], errors: [], excused: [] };
  page.on('requestfinished', async request => {
    const url = new URL(request.url());
    if (
      !['data:', 'blob:'].includes(url.protocol) &&
      url.hostname !== 'localhost'
    ) {
      log.foreign.push(request.url());
    }
    const sizes = await request
      .sizes()
      .catch(() => ({ responseBodySize: -1, requestBodySize: -1 }));
    log.requests.push({
      method: request.method(),
      url: url.pathname + url.search,
      bytes: Math.max(sizes.responseBodySize, sizes.requestBodySize)
    });
  });
  page.on('console', message => {
    if (message.type() === 'error') {
      log.errors.push(message.text());
    }
  });
  page.on('pageerror', error => log.errors.push(error.message));
  return log;
}

/** Every test in JupyterLab fails when the page complains or asks another host. */
export const test = base.extend<{ log: ILog }>({
  log: [
    async ({ page }, use) => {
      const log = listen(page);
      await use(log);
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
