// All devices for the sizes that are shown: CPU ms of the table's numbers beside one estimate a device.
//
//   node benchmarks/devices.mjs [--models NAME,…] [--json]
//
// `first` is the first time that the code runs, as when the tab is opened; `again` the median of later ones, as
// while sizes change. The baseline times each device by itself, as the chosen one is. `tab` is wall time in
// Chromium, in the one-file page, from the click on the tab to the frame that shows the rows. At most 100 ms
// are wanted of each.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { argument, flag, launch, median } from './browser.mjs';

const directory = dirname(fileURLToPath(import.meta.url));
const root = join(directory, '..');
const MODELS = (
  argument('models') ?? 'resnet50,bert_dyn,free-5000,chain-5000'
).split(',');
const ROUNDS = 7;

const ENTRY = `
export { DeviceTimes } from './src/core/latency/deviceTimes';
export { latencyOf } from './src/core/latency/latencyEstimate';
export { decodePayload } from './src/core/model/decodePayload';
export { readBundle } from './src/providers/bundleProvider';
`;

async function loadCore(folder) {
  const outfile = join(folder, 'core.mjs');
  await build({
    stdin: { contents: ENTRY, resolveDir: root, loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile,
    logLevel: 'error'
  });
  return import(pathToFileURL(outfile).href);
}

const cpu = run => {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
};

async function numbers(core, html) {
  const text = /id="autodoc-model"[^>]*>([^<]+)</.exec(
    readFileSync(html, 'utf8')
  )[1];
  const { payload } = await core.readBundle(Buffer.from(text, 'base64'));
  const model = core.decodePayload(payload);
  const allTimes = () => new core.DeviceTimes(model).all();
  const eachTime = () =>
    payload.hardware.devices.id.map(device =>
      core.latencyOf(model, { device, precision: '' })
    );
  const first = cpu(allTimes);
  const repeated = median(Array.from({ length: ROUNDS }, () => cpu(allTimes)));
  const baseline = median(Array.from({ length: 3 }, () => cpu(eachTime)));
  const [actual, expected] = [allTimes(), eachTime()];
  const differ = actual.filter(
    (latency, index) =>
      Math.abs((latency?.seconds ?? 0) - (expected[index]?.seconds ?? 0)) >
      1e-9 * (latency?.seconds ?? 0)
  ).length;
  return {
    nodes: payload.nodes.op.length,
    devices: actual.length,
    ...{ first, again: repeated, baseline, differ }
  };
}

/** Wall ms from the click on the tab to the frame with its rows, the code of the tab there already. */
async function tab(browser, html) {
  const page = await browser.newPage({
    viewport: { width: 1400, height: 900 }
  });
  await page.goto(pathToFileURL(html).href);
  await page.waitForSelector('.oad-GraphHost[data-scene-version]');
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    await page.getByRole('tab', { name: 'Findings' }).click();
    await page.waitForTimeout(300);
    times.push(
      await page.evaluate(async () => {
        const start = performance.now();
        [...document.querySelectorAll('[role=tab]')]
          .find(tab => tab.textContent.startsWith('Devices'))
          .click();
        while (!document.querySelector('.oad-DeviceTable tbody button')) {
          await new Promise(resolve => setTimeout(resolve, 0));
        }
        await new Promise(requestAnimationFrame);
        await new Promise(resolve => setTimeout(resolve, 0));
        return performance.now() - start;
      })
    );
  }
  await page.close();
  return { opened: times[0], tab: median(times.slice(1)) };
}

const folder = mkdtempSync(join(tmpdir(), 'autodoc-devices-'));
try {
  execFileSync('python', [join(directory, 'models.py'), folder, ...MODELS]);
  const core = await loadCore(folder);
  const browser = await launch();
  const rows = [];
  for (const name of MODELS) {
    const html = join(folder, `${name}.html`);
    execFileSync('onnx-autodoc', [
      ...['analyze', join(folder, `${name}.onnx`), '--assume'],
      ...['--no-progress', '--out-html', html]
    ]);
    rows.push({
      name,
      ...(await numbers(core, html)),
      ...(await tab(browser, html))
    });
  }
  await browser.close();
  if (flag('json')) {
    console.log(JSON.stringify(rows, null, 2));
  } else {
    console.log(
      'model         nodes devices  first ms  again ms  each by itself ms  ratio  tab first  tab ms'
    );
    for (const row of rows) {
      const { name, nodes, devices, first, again, baseline } = row;
      console.log(
        [
          name.padEnd(12),
          String(nodes).padStart(6),
          String(devices).padStart(7),
          first.toFixed(1).padStart(9),
          again.toFixed(1).padStart(9),
          baseline.toFixed(0).padStart(18),
          (baseline / again).toFixed(0).padStart(6),
          row.opened.toFixed(0).padStart(10),
          row.tab.toFixed(0).padStart(7)
        ].join(' ') + (row.differ ? `  ${row.differ} differ!` : '')
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
