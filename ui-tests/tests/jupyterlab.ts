// What all tests start from. JupyterLab takes longer to load than most tests take: each worker loads it once, and
// every test finds it as it came. The base is one for all files, so that no worker has to be started for another.

import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import {
  expect,
  test as playwright,
  type Browser,
  type ConsoleMessage,
  type Page,
  type Request,
  type WorkerInfo
} from '@playwright/test';

/** What the page asked of the server about one file, and everything suspicious it said. */
export interface ILog {
  requests: { method: string; url: string; bytes: number }[];
  foreign: string[];
  errors: string[];
  /** Complaints of others that a test expects. */
  excused: string[];
}

/** Records requests, foreign hosts and console errors until it is told to end. */
export function listen(page: Page): { log: ILog; end: () => void } {
  const log: ILog = { requests: [], foreign: [], errors: [], excused: [] };
  const finished = async (request: Request): Promise<void> => {
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
  };
  const onConsole = (message: ConsoleMessage): void => {
    if (message.type() === 'error') {
      log.errors.push(message.text());
    }
  };
  const thrown = (error: Error): number => log.errors.push(error.message);
  page.on('requestfinished', finished);
  page.on('console', onConsole);
  page.on('pageerror', thrown);
  return {
    log,
    end: () => {
      page.off('requestfinished', finished);
      page.off('console', onConsole);
      page.off('pageerror', thrown);
    }
  };
}

/** The parts of JupyterLab that a test may leave otherwise, by the names of their plugins. */
interface IParts {
  '@jupyterlab/galata-extension:helpers': {
    notifications: { dismiss(): void };
  };
  '@jupyterlab/apputils-extension:state': { clear(): Promise<void> };
  '@jupyterlab/filebrowser-extension:default-file-browser': {
    model: { cd(path: string): Promise<void>; refresh(): Promise<void> };
    clearSelectedItems(): void;
  };
}

/** A JupyterLab in a browser context of its own: settings, state and kernels are nobody else's. */
class Lab {
  private constructor(
    readonly page: IJupyterLabPageFixture,
    private readonly _endKernels: () => Promise<void>,
    private readonly _settings: Readonly<Record<string, string>>
  ) {}

  static async open(
    browser: Browser,
    { use }: WorkerInfo['project']
  ): Promise<Lab> {
    // Here: the tests of the page alone are spared the import.
    const { galata } = await import('@jupyterlab/galata');
    const { viewport, baseURL, actionTimeout } = use;
    const context = await browser.newContext({ viewport, baseURL });
    context.setDefaultTimeout(actionTimeout!);
    const sessions = new Set<string>();
    const page = (await galata.initTestPage(
      '/lab',
      false,
      baseURL!,
      true,
      galata.DEFAULT_SETTINGS,
      false,
      true,
      await context.newPage(),
      // Galata's list of sessions and kernels forgets one that starts while it is fetched: no kernel, then.
      null,
      new Map(),
      '',
      started,
      null
    )) as IJupyterLabPageFixture;
    page.on('response', async response => {
      const { pathname } = new URL(response.url());
      if (
        response.request().method() === 'POST' &&
        pathname === '/api/sessions' &&
        response.ok()
      ) {
        sessions.add(((await response.json()) as { id: string }).id);
      }
    });
    await keepWorkspace(page, galata.Routes.workspaces);
    const { log, end } = listen(page);
    await page.goto();
    end();
    expect([...log.foreign, ...log.errors]).toEqual([]);
    const endKernels = async (): Promise<void> => {
      const ids = [...sessions];
      sessions.clear();
      await galata.Mock.clearRunners(context.request, ids, 'sessions');
    };
    return new Lab(page, endKernels, await settingsOf(page));
  }

  /** Puts it back as it came. */
  async tidy(): Promise<void> {
    const { page } = this;
    // A test may have loaded it again: first it opens what was open, then what the address names.
    await page.waitForFunction(() => typeof window.jupyterapp === 'object');
    await page.evaluate(async () => {
      await window.jupyterapp.restored;
      // Galata looks for the application where this is read.
      return typeof window.galata.app;
    });
    await expect(page.locator('#filebrowser.jp-mod-restoring')).toHaveCount(0);
    await page.keyboard.press('Escape');
    await page.evaluate(() => {
      // Not closed: that asks whether to save.
      for (const widget of [...window.jupyterapp.shell.widgets('main')]) {
        widget.dispose();
      }
    });
    await this._endKernels();
    await page.evaluate(async () => {
      const plugin = <K extends keyof IParts>(id: K): Promise<IParts[K]> =>
        window.galata.getPlugin(id as never) as Promise<never>;
      const browser = await plugin(
        '@jupyterlab/filebrowser-extension:default-file-browser'
      );
      const state = await plugin('@jupyterlab/apputils-extension:state');
      const { commands, shell } = window.jupyterapp;
      // Recent documents that are gone are asked for when it is loaded again.
      await commands.execute('docmanager:clear-recents');
      await state.clear();
      (
        await plugin('@jupyterlab/galata-extension:helpers')
      ).notifications.dismiss();
      const sides = shell as unknown as Record<
        'collapseRight' | 'expandLeft',
        () => void
      >;
      sides.collapseRight();
      sides.expandLeft();
      shell.activateById('filebrowser');
      await browser.model.cd('/');
      await browser.model.refresh();
      browser.clearSelectedItems();
      window.history.replaceState(null, '', '/lab');
    });
    await this._restoreSettings();
    await page.mouse.move(0, 0);
    await started(page, page);
    await expect(page.locator('.jp-Dialog, .lm-Menu')).toHaveCount(0);
  }

  async close(): Promise<void> {
    await this._endKernels();
    await this.page.context().close();
  }

  /** The theme, shortcuts. */
  private async _restoreSettings(): Promise<void> {
    await this.page.evaluate(async first => {
      const registry = (await window.galata.getPlugin(
        '@jupyterlab/apputils-extension:settings'
      ))!;
      for (const [id, plugin] of Object.entries(registry.plugins)) {
        if (id in first && first[id] !== plugin!.raw) {
          await registry.upload(id, first[id]);
        }
      }
    }, this._settings);
    await expect(this.page.locator('body')).toHaveAttribute(
      'data-jp-theme-light',
      'true'
    );
  }
}

/**
 * A workspace in memory. That of Galata never forgets a document: when JupyterLab is loaded again, those of
 * all tests before open, too.
 */
async function keepWorkspace(page: Page, address: RegExp): Promise<void> {
  let workspace: unknown = { data: {}, metadata: { id: 'default' } };
  await page.route(address, (route, request) => {
    if (request.method() === 'PUT') {
      workspace = request.postDataJSON();
      return route.fulfill({ status: 204 });
    }
    const isModel = address.exec(request.url())?.groups?.id !== undefined;
    const response = { workspaces: { ids: ['default'], values: [workspace] } };
    return route.fulfill({ json: isModel ? workspace : response });
  });
}

/** Until JupyterLab can be used. */
async function started(
  page: Page,
  { activity }: Pick<IJupyterLabPageFixture, 'activity'>
): Promise<void> {
  await page.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
  await expect.poll(() => activity.isTabActive('Launcher')).toBe(true);
}

/** The user's settings of every plugin, as they are written. */
const settingsOf = (
  page: IJupyterLabPageFixture
): Promise<Record<string, string>> =>
  page.evaluate(async () => {
    const registry = (await window.galata.getPlugin(
      '@jupyterlab/apputils-extension:settings'
    ))!;
    return Object.fromEntries(
      Object.entries(registry.plugins).map(([id, plugin]) => [id, plugin!.raw])
    );
  });

interface IWorker {
  /** JupyterLab at its launcher, with nothing open. */
  cleanLab: () => Promise<IJupyterLabPageFixture>;
}

export const base = playwright.extend<object, IWorker>({
  cleanLab: [
    async ({ browser }, use, { project }) => {
      let lab: Lab | null = null;
      await use(async () => {
        if (lab) {
          await lab.tidy();
        } else {
          lab = await Lab.open(browser, project);
        }
        return lab.page;
      });
      await (lab as Lab | null)?.close();
    },
    { scope: 'worker' }
  ]
});
