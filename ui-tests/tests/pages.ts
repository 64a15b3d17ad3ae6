// The one-file page of a model, opened from disk in a browser that asks nobody and complains of nothing.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, type Locator, type Page } from '@playwright/test';
import { base } from './jupyterlab';

const models = process.env.JUPYTERLAB_GALATA_ROOT_DIR ?? '';
/** Hidden from JupyterLab, which serves the folder of the models. */
const pages = join(models, '.pages');

/** CSS pixels of the window. */
export interface IRect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface ISeen {
  readonly requests: string[];
  readonly complaints: string[];
}

/** Every test fails when the page complains in the console or asks for anything but itself. */
export const test = base.extend<{ log: ISeen }>({
  log: [
    async ({ page }, use) => {
      const log: ISeen = { requests: [], complaints: [] };
      page.on('request', request => log.requests.push(request.url()));
      page.on('console', message => {
        if (['error', 'warning'].includes(message.type())) {
          log.complaints.push(message.text());
        }
      });
      page.on('pageerror', error => log.complaints.push(error.message));
      await use(log);
      expect(log.complaints).toEqual([]);
      expect(
        log.requests.filter(url => !/^(file|blob|data):/.test(url))
      ).toEqual([]);
    },
    { auto: true }
  ]
});

export { expect };

/**
 * The address of a page that a command writes once a run. Two workers may make one at once: each writes its
 * own, and the command writes over nothing that came meanwhile.
 */
function pageUrl(name: string, command: (file: string) => string[]): string {
  mkdirSync(pages, { recursive: true });
  const file = join(pages, `${name}.html`);
  if (!existsSync(file)) {
    const mine = `${file}.${process.pid}.html`;
    execFileSync('onnx-autodoc', command(mine), {
      stdio: ['ignore', 'ignore', 'inherit']
    });
    renameSync(mine, file);
  }
  return pathToFileURL(file).href;
}

/** The page of a model. */
export const pageOf = (model: string, ...options: string[]): string =>
  pageUrl([model, ...options].join(' '), file => [
    'analyze',
    join(models, model),
    '--assume',
    '--out-html',
    file,
    ...options
  ]);

/** The page of two models. */
export const pageOfTwo = (left: string, right: string): string =>
  pageUrl(`${left} ${right}`, file => [
    'compare',
    join(models, left),
    join(models, right),
    '--beside',
    file
  ]);

export interface IOpen {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** End of the address: a view. */
  readonly hash?: string;
}

/** Opens the page of a model and waits for its picture. Nothing moves by itself. */
export async function open(
  page: Page,
  model: string,
  { width = 1400, height = 900, dark = false, hash = '' }: IOpen = {}
): Promise<void> {
  await page.setViewportSize({ width, height });
  await page.emulateMedia({
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce'
  });
  await page.goto(pageOf(model) + hash);
  await waitUntilDrawn(page);
}

/** Until the picture is there. */
export async function waitUntilDrawn(page: Page): Promise<void> {
  await expect(
    page.locator('.oad-GraphHost[data-scene-version]')
  ).toBeVisible();
}

/** The page, or the part of it that a viewer has to itself. */
type Place = Page | Locator;

export const graph = (page: Place): Locator => page.locator('.oad-graph');

/** Boxes of the graph by what a screen reader says of them. */
export const box = (page: Place, name: string | RegExp): Locator =>
  graph(page).getByRole('button', { name }).first();

/**
 * Where an element is. The graph replaces the elements of its boxes when the picture changes, and one
 * that was just found may be gone before it is measured: then the new one is.
 */
export async function rectOf(locator: Locator): Promise<IRect> {
  let rect: IRect | null = null;
  await expect(async () => {
    rect = await locator.boundingBox();
    expect(rect).not.toBeNull();
  }).toPass();
  return rect!;
}

/** Brings what a search finds first into view, whatever the first picture shows. */
export async function reveal(page: Place, query: string): Promise<void> {
  const search = page.getByRole('textbox', { name: 'Find in the model' });
  await search.fill(query);
  await search.press('Enter');
  await expect(page.locator('.oad-Search-count')).toHaveText(/^1\//);
  await search.fill('');
  await graph(page).focus();
  await expect(graph(page)).not.toHaveClass(/oad-moving/);
}

/** Whether the title of a box is in view and not below what lies over the picture. */
async function isShown(page: Place, name: RegExp): Promise<boolean> {
  if ((await box(page, name).count()) === 0) {
    return false;
  }
  return box(page, name).evaluate(element => {
    const { left, top } = element.getBoundingClientRect();
    const target = document.elementFromPoint(left + 30, top + 8);
    return target !== null && element.contains(target);
  });
}

/**
 * Clicks a box by its title, which is there for a card and for an open block alike; what is not in the
 * picture is searched by the word that the name starts with.
 */
export async function pick(page: Place, name: RegExp): Promise<void> {
  if (!(await isShown(page, name))) {
    await reveal(page, name.source.replace(/\W/g, ''));
  }
  await box(page, name).click({ position: { x: 30, y: 8 } });
}

/** Selects a block and sees to it that it is open, or closed. */
export async function setOpen(
  page: Place,
  name: RegExp,
  opened: boolean
): Promise<void> {
  await pick(page, name);
  const block = box(page, name);
  if ((await block.getAttribute('aria-expanded')) !== String(opened)) {
    await block.press('Enter');
  }
  await expect(block).toHaveAttribute('aria-expanded', String(opened));
}

/** Unfolds the legend where there was no room for all of it. */
export async function openLegend(page: Place): Promise<void> {
  const fold = page.locator('.oad-Legend-fold');
  if ((await fold.getAttribute('aria-expanded')) === 'false') {
    await fold.click();
  }
}

export const inspector = (page: Page): Locator =>
  page.getByRole('complementary', { name: 'Inspector' });

/** What has been told to those who do not see. */
export const statusText = (page: Page): Locator =>
  page.locator('.oad-Viewer > [role=status]');

/** Saves the page as it is now, as a browser does; returns the address of the file. */
export async function save(page: Page, file: string): Promise<string> {
  writeFileSync(file, await page.content());
  return pathToFileURL(file).href;
}

/** Opens a table below the graph. */
export const tab = async (page: Page, name: string): Promise<void> => {
  const tab = page.getByRole('tab', { name });
  if ((await tab.getAttribute('aria-selected')) !== 'true') {
    await tab.click();
  }
};
