// Other values for symbolic dimensions: main thread CPU of one move of a slider, by what is on the screen.
//
//   node benchmarks/rebind.mjs [--models NAME,…] [--moves N] [--profile FILE [--screen ROW]] [--json]
//
// The viewer over a model that lies in the page, as in the one-file page; sizes come through the host's
// handle, which takes the same way as a slider. Each row shows one more panel than "picture and totals";
// its time is that of a whole move until the frame with the new numbers. At most 50 ms are wanted.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { argument, flag, launch, median } from './browser.mjs';

const directory = dirname(fileURLToPath(import.meta.url));
const root = join(directory, '..');
const MODELS = (argument('models') ?? 'bert_dyn,free-2000').split(',');
const MOVES = Number(argument('moves') ?? 15);
const WANTED = 50;
/** Rows without one have no device. */
const DEVICE = { device: 'a100-sxm4-40gb', precision: 'fp16' };
const CLOSED = { outline: 'closed', inspector: 'closed', drawer: false };
/** What is on the screen, by the name of the row. */
const SCREENS = {
  'picture and totals': { panels: CLOSED, overlay: null },
  'with heatmap': { panels: CLOSED, overlay: 'macs' },
  'with outline': {
    panels: { ...CLOSED, outline: 'open' },
    overlay: null
  },
  'with inspector': {
    panels: { ...CLOSED, inspector: 'open' },
    overlay: null
  },
  ...Object.fromEntries(
    ['layers', 'memory', 'charts', 'dims'].map(tab => [
      `with tab ${tab}`,
      { panels: { ...CLOSED, drawer: true, tab }, overlay: null }
    ])
  ),
  'sorted table': {
    panels: { ...CLOSED, drawer: true, tab: 'layers' },
    overlay: null,
    table: { sort: [{ column: 'flops', descending: true }] }
  },
  'all with table': {
    panels: { outline: 'open', inspector: 'open', drawer: true, tab: 'layers' },
    overlay: 'macs'
  },
  'all with memory': {
    panels: { outline: 'open', inspector: 'open', drawer: true, tab: 'memory' },
    overlay: 'macs'
  },
  'with latency': { panels: CLOSED, overlay: 'latency', device: DEVICE },
  'latency, table': {
    panels: { outline: 'open', inspector: 'open', drawer: true, tab: 'layers' },
    overlay: 'latency',
    device: DEVICE
  },
  'every block open': { panels: CLOSED, overlay: 'macs', run: 'expand-all' }
};

const ENTRY = `
import * as React from 'react';
import { createRoot } from 'react-dom/client';
import { BundleProvider, readBundle } from './src/providers/bundleProvider';
import { Viewer } from './src/viewer';

window.show = async text => {
  const bytes = Uint8Array.from(atob(text.trim()), c => c.charCodeAt(0));
  const bundle = await readBundle(bytes);
  const provider = new BundleProvider(bundle);
  return new Promise(done =>
    createRoot(document.getElementById('autodoc')).render(
      <Viewer provider={provider}
        onReady={handle => { window.handle = handle; done(bundle.payload.dims); }} />
    )
  );
};
`;

/** The page's own bundle lets nobody in: this one hands out the viewer's handle. Layout is on this thread. */
async function writePage(folder) {
  await build({
    stdin: { contents: ENTRY, resolveDir: root, loader: 'tsx' },
    bundle: true,
    format: 'iife',
    minify: !argument('profile'),
    define: { 'process.env.NODE_ENV': '"production"' },
    outfile: join(folder, 'viewer.js'),
    logLevel: 'warning'
  });
  await build({
    entryPoints: [join(root, 'style/index.css'), join(root, 'style/page.css')],
    bundle: true,
    outdir: folder,
    logLevel: 'warning'
  });
  const file = join(folder, 'index.html');
  writeFileSync(
    file,
    '<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="index.css">' +
      '<link rel="stylesheet" href="page.css"><div id="autodoc"></div><script src="viewer.js"></script>'
  );
  return pathToFileURL(file).href;
}

/** The bundle of a model, as its one-file page holds it. */
function bundleOf(folder, name) {
  const html = join(folder, `${name}.html`);
  execFileSync(
    'onnx-autodoc',
    [
      'analyze',
      join(folder, `${name}.onnx`),
      '--assume',
      '--no-progress',
      '--out-html',
      html
    ],
    { stdio: 'inherit' }
  );
  const text = readFileSync(html, 'utf8');
  return /id="autodoc-model"[^>]*>([^<]+)</.exec(text)[1];
}

/** Processes of tabs, spare ones too; the first thread of each is its main thread. */
async function renderersOf(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  return processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => id);
}

/** CPU milliseconds that the main threads have used, as the system's scheduler counts them. */
const usedBy = processes =>
  processes.reduce((sum, id) => {
    const text = readFileSync(`/proc/${id}/task/${id}/schedstat`, 'utf8');
    return sum + Number(text.split(' ')[0]) / 1e6;
  }, 0);

/** The harness alone: two frames without a change. */
async function floorOf(tab, processes) {
  const used = [];
  for (let step = 0; step < MOVES; step++) {
    const before = usedBy(processes);
    await tab.evaluate(
      () =>
        new Promise(resolve =>
          requestAnimationFrame(() =>
            requestAnimationFrame(() => setTimeout(resolve, 0))
          )
        )
    );
    used.push(usedBy(processes) - before);
  }
  return median(used);
}

/** One move: the sizes change, then the frame with the new numbers. */
const MOVE = `sizes => new Promise((done, fail) => {
  window.handle.preview(sizes).then(shown =>
    shown
      ? requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)))
      : fail(new Error('only an analysis can tell these sizes'))
  );
})`;

async function measure(tab, processes, screen, dims) {
  await tab.evaluate(
    state =>
      window.handle.setState({
        ...window.handle.getState(),
        device: null,
        ...state
      }),
    screen
  );
  if (screen.run) {
    await tab.evaluate(action => window.handle.run(action), screen.run);
  }
  await tab.waitForTimeout(300);
  const used = [];
  for (let step = 0; step < MOVES + 3; step++) {
    const sizes = Object.fromEntries(
      dims.map(({ name, value }) => [name, value + 1 + (step % 7)])
    );
    const before = usedBy(processes);
    await tab.evaluate(`(${MOVE})(${JSON.stringify(sizes)})`);
    if (step >= 3) {
      used.push(usedBy(processes) - before);
    }
  }
  return median(used);
}

/** A CPU profile of moves with everything on the screen, for Chromium's developer tools. */
async function profile(tab, processes, dims) {
  const session = await tab.context().newCDPSession(tab);
  await session.send('Profiler.enable');
  await session.send('Profiler.setSamplingInterval', { interval: 100 });
  await session.send('Profiler.start');
  await measure(
    tab,
    processes,
    SCREENS[argument('screen') ?? 'all with table'],
    dims
  );
  const { profile: cpuProfile } = await session.send('Profiler.stop');
  writeFileSync(argument('profile'), JSON.stringify(cpuProfile));
}

async function runModel(url, text) {
  const browser = await launch();
  try {
    const tab = await browser.newPage({
      viewport: { width: 1400, height: 900 }
    });
    tab.on('pageerror', error => console.error(error.message));
    await tab.goto(url);
    const dims = await tab.evaluate(bundle => window.show(bundle), text);
    await tab.waitForSelector('.oad-GraphHost[data-scene-version]');
    const processes = await renderersOf(browser);
    await tab.waitForTimeout(1000);
    const rows = { 'two frames alone': await floorOf(tab, processes) };
    for (const [name, screen] of Object.entries(SCREENS)) {
      rows[name] = await measure(tab, processes, screen, dims);
    }
    if (argument('profile')) {
      await profile(tab, processes, dims);
    }
    return rows;
  } finally {
    await browser.close();
  }
}

function print(name, nodes, rows) {
  console.log(
    `\n${name}, ${nodes} nodes; median of ${MOVES} moves, CPU ms of the main thread`
  );
  console.log('on the screen         a move   of it this panel');
  const alone = rows['picture and totals'];
  for (const [screen, used] of Object.entries(rows)) {
    const delta = screen.startsWith('with') ? (used - alone).toFixed(1) : '';
    console.log(
      screen.padEnd(20) +
        used.toFixed(1).padStart(8) +
        delta.padStart(19) +
        (used <= WANTED ? '   OK' : '   OVER')
    );
  }
}

const folder = mkdtempSync(join(tmpdir(), 'autodoc-rebind-'));
try {
  const counts = JSON.parse(
    execFileSync('python', [join(directory, 'models.py'), folder, ...MODELS], {
      encoding: 'utf8'
    })
  );
  const url = await writePage(folder);
  const results = {};
  for (const name of MODELS) {
    results[name] = await runModel(url, bundleOf(folder, name));
    if (!flag('json')) {
      print(name, counts[name], results[name]);
    }
  }
  if (flag('json')) {
    console.log(JSON.stringify(results));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
