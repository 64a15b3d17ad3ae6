// What the benchmarks in a browser share: arguments, a Chromium, a JupyterLab, what a page costs.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { chromium } from 'playwright-core';
import options from '../ui-tests/chromium.js';

/** The value after `--name`, undefined without. */
export function argument(name) {
  const position = process.argv.indexOf(`--${name}`);
  return position < 0 ? undefined : process.argv[position + 1];
}

export const flag = name => process.argv.includes(`--${name}`);

export const median = values =>
  [...values].sort((a, b) => a - b)[values.length >> 1];

/** A headless Chromium of its own, without a GPU and without errands in the background. */
export function launch(args = []) {
  return chromium.launch({ ...options, args: [...options.args, ...args] });
}

export const freePort = () =>
  new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Waits until the address answers. */
export async function reachable(url, program) {
  for (let i = 0; i < 240; i++) {
    try {
      if ((await fetch(url)).ok) {
        return;
      }
    } catch {
      // not up yet
    }
    await new Promise(resolve => setTimeout(resolve, 250));
  }
  throw new Error(`${program} did not start`);
}

/** A JupyterLab over a folder, as the leader of its own process group. */
export async function startLab(root, port) {
  const args = [
    'lab',
    '--no-browser',
    `--port=${port}`,
    '--ServerApp.port_retries=0',
    '--IdentityProvider.token=',
    '--ServerApp.password=',
    '--LabApp.news_url=None',
    '--ServerApp.allow_root=True',
    '--LabApp.expose_app_in_browser=True',
    `--ServerApp.root_dir=${root}`
  ];
  const lab = spawn('jupyter', args, { stdio: 'ignore', detached: true });
  await reachable(`http://127.0.0.1:${port}/api`, 'JupyterLab');
  return lab;
}

export async function freshLab(browser, port) {
  const page = await browser.newPage({
    viewport: { width: 1400, height: 900 }
  });
  await page.goto(`http://127.0.0.1:${port}/lab?reset`);
  await page.locator('.jp-DirListing-item').first().waitFor();
  await page.waitForFunction(
    () => !document.querySelector('#jupyterlab-splash')
  );
  return page;
}

/** Milliseconds of the page's clock, two animation frames from now. */
export const twoFramesOn = page =>
  page.evaluate(
    () =>
      new Promise(resolve =>
        requestAnimationFrame(() =>
          requestAnimationFrame(() => resolve(performance.now()))
        )
      )
  );

/** Milliseconds from double click on a file to `selector` plus two frames. */
export async function openInLab(page, file, selector, timeout = 120_000) {
  const item = page.locator(`.jp-DirListing-item[title^="Name: ${file}"]`);
  await item.click();
  const start = await page.evaluate(() => performance.now());
  await item.dblclick();
  await page.locator(selector).first().waitFor({ state: 'visible', timeout });
  return (await twoFramesOn(page)) - start;
}

/** CPU seconds that all processes of the browser have used. */
export async function cpuOf(session) {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

/** CPU seconds that a process, those it started and those that have ended below it have used. */
export function cpuOfTree(root) {
  const stats = new Map();
  for (const id of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      // The name of the program, in brackets, may hold anything.
      const text = readFileSync(`/proc/${id}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      const ticks = fields.slice(11, 15).reduce((sum, n) => sum + Number(n), 0);
      stats.set(Number(id), { parent: Number(fields[1]), ticks });
    } catch {
      // gone in the meantime
    }
  }
  const below = id => {
    for (
      let ancestor = id;
      ancestor > 0;
      ancestor = stats.get(ancestor)?.parent ?? 0
    ) {
      if (ancestor === root) {
        return true;
      }
    }
    return false;
  };
  let ticks = 0;
  for (const [id, stat] of stats) {
    ticks += below(id) ? stat.ticks : 0;
  }
  return ticks / 100;
}

/** MB of all processes of the browser; pages shared by several count by parts. */
export async function memoryOf(session) {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  let kilobytes = 0;
  for (const { id } of processInfo) {
    try {
      const text = readFileSync(`/proc/${id}/smaps_rollup`, 'utf8');
      kilobytes += Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
    } catch {
      // gone in the meantime
    }
  }
  return kilobytes / 1024;
}
