// Double click to readable picture in a real JupyterLab, headless Chromium.
//
//   node benchmarks/lab.mjs [--runs N] [--shots DIR] [--json]
//
// The baseline, measured in the same run, is Lab's own document overhead: double click on a small text
// file until its editor is there. Netron's and Model Explorer's figures for 10,000 nodes are quoted, not run.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  argument,
  freePort,
  freshLab,
  launch,
  median,
  openInLab as open,
  startLab
} from './browser.mjs';

const directory = dirname(fileURLToPath(import.meta.url));
const RUNS = Number(argument('runs') ?? 3);
const SHOTS = argument('shots');
const MODELS = [
  'resnet50.onnx',
  'bert_base.onnx',
  'ppocr_v4_det.onnx',
  'ten_thousand.onnx'
];
const COLLAPSED = '.oad-GraphHost [role=button][aria-expanded=false]';
const DRAWN = '.oad-GraphHost[data-scene-version]';

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
  const duration = page.evaluate(
    () =>
      new Promise(resolve => {
        const host = document.querySelector('.oad-GraphHost');
        let start = 0;
        host.addEventListener('dblclick', () => (start = performance.now()), {
          capture: true,
          once: true
        });
        new MutationObserver((_, observer) => {
          observer.disconnect();
          requestAnimationFrame(() =>
            requestAnimationFrame(() => resolve(performance.now() - start))
          );
        }).observe(host, { attributeFilter: ['data-scene-version'] });
        setTimeout(() => resolve(null), 10000);
      })
  );
  await group.dblclick({ force: true });
  return duration;
}

const ms = value => (value === null ? '–' : `${Math.round(value)} ms`);

const root = mkdtempSync(join(tmpdir(), 'autodoc-bench-'));
execFileSync(
  'python',
  [join(directory, '..', 'ui-tests', 'make_models.py'), root],
  {
    stdio: 'inherit'
  }
);
writeFileSync(join(root, 'note.txt'), 'a small text file\n');
const port = await freePort();
const lab = await startLab(root, port);
const browser = await launch();
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
