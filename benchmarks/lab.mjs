// Double click to readable picture in a real JupyterLab, headless Chromium.
//
//   node benchmarks/lab.mjs [--runs N] [--shots DIR] [--json]
//
// The baseline, measured in the same run, is Lab's own document overhead: double click on a small text
// file until its editor is there. Netron's and Model Explorer's figures for 10,000 nodes are quoted, not run.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const here = dirname(fileURLToPath(import.meta.url));
const argument = name => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const RUNS = Number(argument('runs') ?? 3);
const SHOTS = argument('shots');
const MODELS = [
  'resnet50.onnx',
  'bert_base.onnx',
  'ppocr_v4_det.onnx',
  'ten_thousand.onnx'
];
const COLLAPSED = '.oad-GraphHost [role=button][aria-expanded=false]';
const DRAWN = '.oad-GraphHost[data-drawn]';

const freePort = () =>
  new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

async function startLab(root, port) {
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
  for (let i = 0; i < 240; i++) {
    try {
      if ((await fetch(`http://127.0.0.1:${port}/api`)).ok) {
        return lab;
      }
    } catch {
      // not up yet
    }
    await new Promise(resolve => setTimeout(resolve, 250));
  }
  throw new Error('JupyterLab did not start');
}

async function freshLab(browser, port) {
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

/** Milliseconds from double click to `selector` plus two frames. */
async function open(page, file, selector) {
  const item = page.locator(`.jp-DirListing-item[title^="Name: ${file}"]`);
  await item.click();
  const start = await page.evaluate(() => performance.now());
  await item.dblclick();
  await page
    .locator(selector)
    .first()
    .waitFor({ state: 'visible', timeout: 120000 });
  const end = await page.evaluate(
    () =>
      new Promise(done =>
        requestAnimationFrame(() =>
          requestAnimationFrame(() => done(performance.now()))
        )
      )
  );
  return end - start;
}

/** Milliseconds from a double click on the first collapsed group to two frames after the new picture. */
async function expandOne(page) {
  // The last one stands farthest from the panels at the left.
  const group = page.locator(COLLAPSED).last();
  if ((await group.count()) === 0) {
    await page.locator('.oad-GraphHost').click({ position: { x: 300, y: 40 } });
    await page.keyboard.press('End');
    await page.waitForTimeout(1500);
  }
  if ((await group.count()) === 0) {
    return null;
  }
  const took = page.evaluate(
    () =>
      new Promise(done => {
        const host = document.querySelector('.oad-GraphHost');
        let start = 0;
        host.addEventListener('dblclick', () => (start = performance.now()), {
          capture: true,
          once: true
        });
        new MutationObserver((_, observer) => {
          observer.disconnect();
          requestAnimationFrame(() =>
            requestAnimationFrame(() => done(performance.now() - start))
          );
        }).observe(host, { attributeFilter: ['data-drawn'] });
        setTimeout(() => done(null), 10000);
      })
  );
  await group.dblclick({ force: true });
  return took;
}

const median = values => [...values].sort((a, b) => a - b)[values.length >> 1];
const ms = value => (value === null ? '–' : `${Math.round(value)} ms`);

const root = mkdtempSync(join(tmpdir(), 'autodoc-bench-'));
execFileSync('python', [join(here, '..', 'ui-tests', 'make_models.py'), root], {
  stdio: 'inherit'
});
writeFileSync(join(root, 'note.txt'), 'a small text file\n');
const port = await freePort();
const lab = await startLab(root, port);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync'
  ]
});
try {
  const results = { 'note.txt (Lab alone)': [] };
  const expands = {};
  for (let run = 0; run < RUNS; run++) {
    const page = await freshLab(browser, port);
    results['note.txt (Lab alone)'].push(
      await open(page, 'note.txt', '.jp-FileEditor .cm-content')
    );
    await page.close();
  }
  for (const model of MODELS) {
    results[model] = [];
    expands[model] = [];
    for (let run = 0; run < RUNS; run++) {
      const page = await freshLab(browser, port);
      results[model].push(await open(page, model, DRAWN));
      if (SHOTS && run === 0) {
        mkdirSync(SHOTS, { recursive: true });
        await page.screenshot({ path: join(SHOTS, `${model}.png`) });
      }
      const expand = await expandOne(page);
      if (expand !== null) {
        expands[model].push(expand);
      }
      await page.close();
    }
  }
  const base = median(results['note.txt (Lab alone)']);
  console.log(
    `median of ${RUNS} fresh pages; first run of each model starts its analysis cold`
  );
  for (const [name, values] of Object.entries(results)) {
    const beyond = name.startsWith('note')
      ? ''
      : `  beyond Lab ${ms(Math.max(0, median(values) - base))}`;
    const expand = expands[name]?.length
      ? `  expand one block ${ms(median(expands[name]))}`
      : '';
    console.log(
      `${name.padEnd(24)} ${ms(median(values)).padStart(8)}  first ${ms(values[0])}${beyond}${expand}`
    );
  }
  console.log(
    '10,000 nodes elsewhere on such a machine: Netron 47 s, Model Explorer 33 s'
  );
} finally {
  await browser.close();
  process.kill(-lab.pid);
  rmSync(root, { recursive: true, force: true });
}
