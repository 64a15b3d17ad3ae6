/**
 * Two models of 10,000 nodes compared in a real JupyterLab, headless Chromium: from the command to the first
 * picture of both that shows what differs.
 *
 *   node benchmarks/compare_lab.mjs [--runs N] [--layers N] [--shot FILE.png]
 *
 * The models are a decoder and the same less one layer, every name changed (compare.py). Each run has a fresh
 * page, and fresh copies of the files, so that nothing is cached. Printed per run: when each step was done, in
 * seconds from the command, and the CPU seconds of browser and server. The baseline, of the same run, is the
 * larger of the two models opened alone. Exits 1 when the median misses the target.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  argument,
  cpuOf,
  cpuOfTree,
  freePort,
  freshLab,
  launch,
  median,
  openInLab,
  startLab
} from './browser.mjs';

const TARGET = 4;
const directory = dirname(fileURLToPath(import.meta.url));
const RUNS = Number(argument('runs') ?? 3);
const LAYERS = Number(argument('layers') ?? 205);
const SHOT = argument('shot');
const MAKE = `
import sys
sys.path.insert(0, sys.argv[1])
import onnx
from compare import decoder
for name, layers, renamed in (("a", int(sys.argv[3]), False), ("b", int(sys.argv[3]) - 1, True)):
    model = decoder(layers, renamed)
    print(name, len(model.graph.node), "nodes")
    onnx.save(model, f"{sys.argv[2]}/{name}.made")
`;

/** Seconds from the command: each view drawn, both coloured; and the requests that were made. */
function compared(page, left, right) {
  return page.evaluate(
    ([left, right]) =>
      new Promise((resolve, failed) => {
        const start = performance.now();
        const secondsSinceStart = () => (performance.now() - start) / 1000;
        const times = {};
        const look = () => {
          const boxCount = document.querySelectorAll(
            '.oad-GraphHost[data-scene-version]'
          ).length;
          const painted = [...document.querySelectorAll('.oad-Legend')].filter(
            tab => tab.textContent.includes('Changes')
          ).length;
          times.first ??= boxCount > 0 ? secondsSinceStart() : undefined;
          times.both ??= boxCount > 1 ? secondsSinceStart() : undefined;
          if (boxCount > 1 && painted > 1) {
            requestAnimationFrame(() =>
              requestAnimationFrame(() => {
                times.changes = secondsSinceStart();
                const requests = performance
                  .getEntriesByType('resource')
                  .filter(
                    entry =>
                      entry.startTime >= start &&
                      entry.name.includes('/autodoc/')
                  )
                  .map(entry => ({
                    name: entry.name.replace(/.*\/autodoc\/api\/|\?.*/g, ''),
                    from: (entry.startTime - start) / 1000,
                    to: (entry.responseEnd - start) / 1000
                  }));
                resolve({ at: times, requests });
              })
            );
          } else if (secondsSinceStart() > 120) {
            failed(new Error('no picture of the changes in two minutes'));
          } else {
            requestAnimationFrame(look);
          }
        };
        window.jupyterapp.commands.execute('onnx-autodoc:compare', {
          left,
          right
        });
        look();
      }),
    [left, right]
  );
}

const root = mkdtempSync(join(tmpdir(), 'autodoc-compare-'));
process.stdout.write(
  execFileSync(
    process.env.PYTHON ?? 'python',
    ['-c', MAKE, directory, root, String(LAYERS)],
    { encoding: 'utf8' }
  )
);
const newProfile = (name, run) => {
  const file = `${name}${run}.onnx`;
  copyFileSync(join(root, `${name}.made`), join(root, file));
  return file;
};
for (let run = 0; run < RUNS; run++) {
  ['a', 'b', 'alone'].forEach(name =>
    copyFileSync(
      join(root, name === 'b' ? 'b.made' : 'a.made'),
      join(root, `${name}${run}.onnx`)
    )
  );
}
newProfile('a', 'warm');
const port = await freePort();
const lab = await startLab(root, port);
const browser = await launch();
const session = await browser.newBrowserCDPSession();
const print = text => process.stdout.write(`${text}\n`);
const seconds = value => `${value.toFixed(2)} s`;
try {
  // The first model of a server pays for imports, whichever it is.
  const warm = await freshLab(browser, port);
  await openInLab(warm, 'awarm.onnx', '.oad-GraphHost[data-scene-version]');
  await warm.close();
  const [alone, changes] = [[], []];
  for (let run = 0; run < RUNS; run++) {
    const single = await freshLab(browser, port);
    alone.push(
      (await openInLab(
        single,
        `alone${run}.onnx`,
        '.oad-GraphHost[data-scene-version]'
      )) / 1000
    );
    await single.close();
    const page = await freshLab(browser, port);
    const before = [await cpuOf(session), cpuOfTree(lab.pid)];
    const { at: times, requests } = await compared(
      page,
      `a${run}.onnx`,
      `b${run}.onnx`
    );
    const after = [await cpuOf(session), cpuOfTree(lab.pid)];
    changes.push(times.changes);
    print(
      `run ${run + 1}: first view ${seconds(times.first)}, both ${seconds(times.both)}, changes ${seconds(times.changes)};` +
        ` CPU browser ${seconds(after[0] - before[0])}, server ${seconds(after[1] - before[1])}`
    );
    if (run === RUNS - 1) {
      for (const { name, from, to } of requests) {
        print(`  ${seconds(from)} – ${seconds(to)}  ${name}`);
      }
    }
    if (SHOT && run === 0) {
      await page.screenshot({ path: SHOT });
    }
    await page.close();
  }
  const changesTime = median(changes);
  print(
    `median: one model alone ${seconds(median(alone))}, changes of two ${seconds(changesTime)}` +
      ` (${(changesTime / median(alone)).toFixed(2)} × one alone); target ${TARGET} s`
  );
  process.exitCode = changesTime > TARGET ? 1 : 0;
} finally {
  await browser.close();
  process.kill(-lab.pid);
  rmSync(root, { recursive: true, force: true });
}
