// Twenty widgets in one notebook: first paint, scrolling, memory, workers, viewers alive.
//   node benchmarks/notebook.mjs [count]
// Starts a JupyterLab of its own in a folder of its own.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from './browser.mjs';

const COUNT = Number(process.argv[2] ?? 20);
const PORT = 18940;
const MODELS = [
  'bert_dyn',
  'resnet50',
  'silero_vad',
  'ppocr_v4_det',
  'ten_thousand'
];
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), 'autodoc-notebook-'));
const base = `http://localhost:${PORT}`;

execFileSync('python', [join(root, 'ui-tests/make_models.py'), folder]);
const cell = source => ({
  ...{
    cell_type: 'code',
    id: `c${Math.random().toString(36).slice(2, 9)}`,
    metadata: {}
  },
  ...{ execution_count: null, outputs: [], source }
});
const cells = ['from py_autodoc import Autodoc'];
for (let i = 0; i < COUNT; i++) {
  cells.push(`Autodoc('${MODELS[i % MODELS.length]}.onnx', height=420)`);
}
const kernelspec = {
  name: 'python3',
  display_name: 'Python 3',
  language: 'python'
};
writeFileSync(
  join(folder, 'many.ipynb'),
  JSON.stringify({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { kernelspec },
    cells: cells.map(cell)
  })
);
const lab = spawn(
  'jupyter',
  [
    ...[
      'lab',
      '--no-browser',
      '--allow-root',
      `--port=${PORT}`,
      `--ServerApp.root_dir=${folder}`
    ],
    ...[
      '--IdentityProvider.token=',
      '--LabApp.news_url=None',
      '--ServerApp.disable_check_xsrf=True'
    ]
  ],
  { stdio: 'ignore' }
);
const browser = await launch();
try {
  await measure();
} finally {
  await browser.close();
  lab.kill('SIGINT');
  await new Promise(resolve => lab.on('exit', resolve));
  rmSync(folder, { recursive: true, force: true });
}

async function measure() {
  const page = await browser.newPage({
    viewport: { width: 1300, height: 900 }
  });
  const problems = [];
  page.on('pageerror', error => problems.push(error.message));
  const session = await page.context().newCDPSession(page);
  const heap = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    return Math.round(usedSize / 1e6);
  };
  await arrive(page);
  const before = await heap();
  const nodesBefore = await page.locator('*').count();
  await page.locator('.jp-Cell').first().click();
  const start = Date.now();
  await page.getByRole('menuitem', { name: 'Run', exact: true }).click();
  await page
    .getByRole('menuitem', { name: 'Run All Cells', exact: true })
    .click();

  await page
    .locator('.oad-GraphHost[data-scene-version]')
    .first()
    .waitFor({ timeout: 120_000 });
  console.log(
    `first picture after ${((Date.now() - start) / 1000).toFixed(1)} s`
  );
  await page.waitForFunction(
    count => document.querySelectorAll('.oad-Widget').length === count,
    COUNT,
    { timeout: 300_000 }
  );
  await page.waitForTimeout(2000);
  console.log(
    `all ${COUNT} run after ${((Date.now() - start) / 1000).toFixed(1)} s`
  );
  await printState(page, 'not scrolled', before, nodesBefore, heap);
  const gaps = await page.evaluate(scrollThrough);
  gaps.sort((a, b) => a - b);
  const quantile = share =>
    gaps[Math.floor(share * (gaps.length - 1))].toFixed(0);
  console.log(
    `scrolled through: frames median ${quantile(0.5)} ms, 95 % ${quantile(0.95)} ms, worst ${quantile(1)} ms`
  );
  await page.waitForTimeout(2000);
  await printState(page, 'scrolled to the end', before, nodesBefore, heap);
  await page.locator('.oad-GraphHost[data-scene-version]').last().waitFor();
  console.log(`errors: ${problems.length ? problems.join('; ') : 'none'}`);
}

async function arrive(page) {
  for (let tries = 0; ; tries++) {
    try {
      await page.goto(`${base}/lab/tree/many.ipynb?reset`);
      break;
    } catch (error) {
      if (tries > 60) {
        throw error;
      }
      await new Promise(resolve => setTimeout(resolve, 500));
    }
  }
  await page.locator('.jp-Notebook').waitFor({ timeout: 60_000 });
  await page.waitForTimeout(5000);
}

async function printState(page, label, before, nodesBefore, heap) {
  const alive = await page.locator('.oad-GraphHost').count();
  const nodes = (await page.locator('*').count()) - nodesBefore;
  const canvases = await page.locator('canvas').count();
  console.log(
    `${label}: viewers alive ${alive} of ${COUNT}, workers ${page.workers().length}, ` +
      `heap +${(await heap()) - before} MB over ${before} MB, DOM nodes +${nodes}, canvases ${canvases}`
  );
}

/** Scrolls from the first cell to the last; the times between frames. */
async function scrollThrough() {
  const pane =
    document.querySelector('.jp-WindowedPanel-outer') ??
    document.querySelector('.jp-Notebook');
  const gaps = [];
  let last = performance.now();
  for (let y = 0; y < pane.scrollHeight - pane.clientHeight; y += 60) {
    pane.scrollTop = y;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    gaps.push(now - last);
    last = now;
  }
  return gaps;
}
