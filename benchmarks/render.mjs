// CPU per frame of the drawing surface, headless Chromium, no GPU.
//
//   node benchmarks/render.mjs [--boxes 1000,5000,20000,50000] [--frames N] [--baseline-up-to N] [--json]
//
// Each row says whether its CPU is within what an idle machine of two cores should need; on a busy one up
// to three times as much is no news. The load is printed at the top.
// The baseline, measured in the same run, is the same picture with every element in the document.
// CPU counts all browser processes (raster too), in milliseconds a frame; wall is from frame to frame
// with the frame rate unlimited.
import { build } from 'esbuild';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const argument = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
};
const BOXES = argument('boxes', '1000,5000,20000,50000').split(',').map(Number);
const FRAMES = Number(argument('frames', '60'));
const BASELINE = Number(argument('baseline-up-to', '10000'));
const EXPERTS = Number(argument('experts', '0'));
const PATHS = [
  'fit',
  'pan 0.05',
  'pan 0.1',
  'pan 0.3',
  'pan 0.35',
  'pan 1',
  'zoom',
  'jump'
];
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-frame-rate-limit',
  '--disable-gpu-vsync'
];

async function page(browser, folder) {
  await build({
    entryPoints: [join(root, 'src/viewer/graph/testing/page.ts')],
    bundle: true,
    format: 'iife',
    outfile: join(folder, 'page.js'),
    logLevel: 'warning'
  });
  const css = readFileSync(join(root, 'style/graph.css'), 'utf8');
  writeFileSync(
    join(folder, 'index.html'),
    `<!doctype html><meta charset="utf-8"><style>${css} #host{position:absolute;inset:0}</style>` +
      '<div id="host"></div><script src="page.js"></script>'
  );
  const tab = await browser.newPage({ viewport: { width: 1400, height: 800 } });
  tab.on('pageerror', error => console.error(error.message));
  await tab.goto(pathToFileURL(join(folder, 'index.html')).href);
  return tab;
}

/** CPU seconds of all processes of the browser. */
async function cpu(session) {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  return processInfo.reduce((sum, p) => sum + p.cpuTime, 0);
}

/** CPU milliseconds wanted for a frame, by boxes: moving, and jumping to where nothing is drawn yet. */
function wanted(boxes, path) {
  if (path === 'jump') {
    return boxes < 40_000 ? 20 : 25;
  }
  return boxes < 3000 ? 5 : boxes < 40_000 ? 6 : 7;
}

const percentile = (values, share) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
};

async function measure(tab, session, kind, frames) {
  const ready = await tab.evaluate(k => window.bench.start(k), kind);
  const rows = [];
  for (const path of PATHS) {
    await tab.evaluate(p => window.bench.run(p, 3), path);
    const before = await cpu(session);
    const wall = await tab.evaluate(
      ([p, n]) => window.bench.run(p, n),
      [path, frames]
    );
    const used = ((await cpu(session)) - before) * 1000;
    rows.push({
      path,
      cpu: used / frames,
      median: percentile(wall, 0.5),
      p95: percentile(wall, 0.95)
    });
  }
  return { ready, rows };
}

const folder = mkdtempSync(join(tmpdir(), 'render-'));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ARGS
});
try {
  const tab = await page(browser, folder);
  const session = await browser.newBrowserCDPSession();
  const results = [];
  if (!process.argv.includes('--json')) {
    const load = loadavg()[0].toFixed(1);
    console.log(`load of the machine: ${load} on ${cpus().length} cores`);
  }
  for (const boxes of BOXES) {
    const scene = await tab.evaluate(
      ([b, e]) => window.bench.prepare(b, e),
      [boxes, EXPERTS]
    );
    const ours = await measure(tab, session, 'hybrid', FRAMES);
    const all =
      boxes <= BASELINE
        ? await measure(tab, session, 'all', Math.min(20, FRAMES))
        : null;
    results.push({ ...scene, ours, all });
    if (!process.argv.includes('--json')) {
      console.log(
        `\n${scene.boxes} boxes, ${scene.edges} wires; set up ${ours.ready.toFixed(0)} ms` +
          (all ? `, baseline ${all.ready.toFixed(0)} ms` : '')
      );
      console.log(
        'path       CPU ms/frame   wanted         wall median / p95   baseline CPU   ratio'
      );
      ours.rows.forEach((row, i) => {
        const base = all?.rows[i].cpu;
        const limit = wanted(scene.boxes, row.path);
        const judged =
          row.cpu <= limit ? 'OK' : `OVER ×${(row.cpu / limit).toFixed(1)}`;
        console.log(
          row.path.padEnd(11) +
            row.cpu.toFixed(1).padStart(8) +
            `     ≤ ${limit}`.padEnd(13) +
            judged.padEnd(10) +
            `${row.median.toFixed(1)} / ${row.p95.toFixed(1)}`.padStart(14) +
            (base === undefined
              ? '             –'
              : base.toFixed(1).padStart(14)) +
            (base === undefined ? '' : (base / row.cpu).toFixed(1).padStart(9))
        );
      });
    }
  }
  if (process.argv.includes('--json')) {
    console.log(JSON.stringify(results));
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
