// CPU per frame of the drawing surface, headless Chromium, no GPU.
//
//   node benchmarks/render.mjs [--boxes 1000,5000,20000,50000] [--frames N] [--runs N] [--baseline-up-to N] [--json]
//
// Each row says whether its CPU is within what an idle machine of two cores should need; on a busy one up
// to three times as much is no news. The load is printed for each size, and the least of several runs counts.
// `floor` is what the browser itself needs for a frame: an empty page that only moves, or for `zoom` and `wheel` only
// scales, one painted layer as large as the view and its margin, measured in the same run.
// The baseline, measured in the same run, is the same picture with every element in the document.
// CPU counts all browser processes (raster too), in milliseconds a frame; wall is from frame to frame
// with the frame rate unlimited.
import { build } from 'esbuild';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { launch } from './browser.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const argument = (name, otherwise) => {
  const position = process.argv.indexOf(`--${name}`);
  return position < 0 ? otherwise : process.argv[position + 1];
};
const BOXES = argument('boxes', '1000,5000,20000,50000').split(',').map(Number);
const FRAMES = Number(argument('frames', '60'));
const RUNS = Number(argument('runs', '3'));
const BASELINE = Number(argument('baseline-up-to', '10000'));
const EXPERTS = Number(argument('experts', '0'));
const PATHS = [
  'fit',
  'pan 0.05',
  'pan 0.1',
  'pan 0.3',
  'pan 0.35',
  'pan 1',
  'wheel',
  'zoom',
  'jump'
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
function framesFor(boxes, path) {
  if (path === 'jump') {
    return boxes < 40_000 ? 20 : 25;
  }
  return boxes < 3000 ? 5 : boxes < 40_000 ? 6 : 7;
}

const percentile = (values, share) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
};

/** Waits until the browser has started all of itself, its own pages too. */
async function waitUntilIdle(session) {
  for (let calm = 0, attempt = 0; calm < 2 && attempt < 40; attempt++) {
    const before = await cpu(session);
    await new Promise(resolve => setTimeout(resolve, 500));
    calm = (await cpu(session)) - before < 0.02 ? calm + 1 : 0;
  }
}

/** One frame after another of a page that moves a painted layer and does nothing else. */
async function control(browser, session, motion, frames) {
  const tab = await browser.newPage({ viewport: { width: 1400, height: 800 } });
  await tab.setContent(
    '<style>body{margin:0}div{position:absolute;inset:0;overflow:hidden}' +
      'p{position:absolute;inset:-160px;margin:0;will-change:transform;' +
      'background:repeating-linear-gradient(90deg,#fff,#fff 20px,#cde 20px,#cde 40px)}' +
      '</style><div><p></p></div>'
  );
  const run = count =>
    tab.evaluate(
      async ([kind, n]) => {
        const { style } = document.querySelector('p');
        for (let i = 0; i < n; i++) {
          const column = i % 80;
          style.transform =
            kind === 'shift'
              ? `translate(${2 * column}px)`
              : `scale(${1 + column / 300})`;
          await new Promise(resolve => requestAnimationFrame(resolve));
        }
      },
      [motion, count]
    );
  await run(20);
  const used = await least(session, frames, () => run(frames));
  await tab.close();
  return used.cpu;
}

/** CPU milliseconds a frame of the cheapest of several runs, and what that run returned. */
async function least(session, frames, run) {
  let best = { cpu: Infinity, result: null };
  for (let i = 0; i < RUNS; i++) {
    const before = await cpu(session);
    const result = await run();
    const used = (((await cpu(session)) - before) * 1000) / frames;
    if (used < best.cpu) {
      best = { cpu: used, result };
    }
  }
  return best;
}

async function measure(tab, session, kind, frames) {
  const state = await tab.evaluate(k => window.bench.start(k), kind);
  const rows = [];
  for (const path of PATHS) {
    await tab.evaluate(p => window.bench.run(p, 3), path);
    const best = await least(session, frames, () =>
      tab.evaluate(([p, n]) => window.bench.run(p, n), [path, frames])
    );
    rows.push({
      path,
      cpu: best.cpu,
      median: percentile(best.result, 0.5),
      p95: percentile(best.result, 0.95)
    });
  }
  return { ready: state, rows };
}

/** The floor of a path; none where nothing can be moved instead of painted. */
function floorOf(floors, path) {
  return path === 'jump'
    ? null
    : /zoom|wheel/.test(path)
      ? floors.scale
      : floors.shift;
}

function print({ boxes, edges, ours, all: isAll, floors, load }) {
  console.log(
    `\n${boxes} boxes, ${edges} wires; set up ${ours.ready.toFixed(0)} ms` +
      (isAll ? `, baseline ${isAll.ready.toFixed(0)} ms` : '') +
      `; load ${load.toFixed(1)} on ${cpus().length} cores`
  );
  console.log(
    'path       CPU ms/frame   wanted    floor          wall median / p95   baseline CPU   ratio'
  );
  ours.rows.forEach((row, i) => {
    const base = isAll?.rows[i].cpu;
    const limit = framesFor(boxes, row.path);
    const floor = floorOf(floors, row.path);
    const judged =
      row.cpu <= limit ? 'OK' : `OVER ×${(row.cpu / limit).toFixed(1)}`;
    console.log(
      row.path.padEnd(11) +
        row.cpu.toFixed(1).padStart(8) +
        `     ≤ ${limit}`.padEnd(14) +
        (floor === null ? '–' : floor.toFixed(1)).padStart(7) +
        `   ${judged}`.padEnd(13) +
        `${row.median.toFixed(1)} / ${row.p95.toFixed(1)}`.padStart(14) +
        (base === undefined ? '–' : base.toFixed(1)).padStart(14) +
        (base === undefined ? '' : (base / row.cpu).toFixed(1).padStart(9))
    );
  });
}

const folder = mkdtempSync(join(tmpdir(), 'render-'));
const browser = await launch([
  '--disable-frame-rate-limit',
  '--disable-gpu-vsync'
]);
try {
  const tab = await page(browser, folder);
  const session = await browser.newBrowserCDPSession();
  await waitUntilIdle(session);
  const results = [];
  for (const boxes of BOXES) {
    const load = loadavg()[0];
    const floors = {
      shift: await control(browser, session, 'shift', FRAMES),
      scale: await control(browser, session, 'scale', FRAMES)
    };
    const scene = await tab.evaluate(
      ([b, e]) => window.bench.prepare(b, e),
      [boxes, EXPERTS]
    );
    const ours = await measure(tab, session, 'hybrid', FRAMES);
    const all =
      boxes <= BASELINE
        ? await measure(tab, session, 'all', Math.min(20, FRAMES))
        : null;
    results.push({ ...scene, load, floors, ours, all });
    if (!process.argv.includes('--json')) {
      print(results.at(-1));
    }
  }
  if (process.argv.includes('--json')) {
    console.log(JSON.stringify(results));
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
