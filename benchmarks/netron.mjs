// From file to readable picture: ours against Netron on the same models, machine and browser.
//
//   node benchmarks/netron.mjs [--models NAME,…] [--runs N] [--limit SECONDS] [--no-lab] [--shots DIR] [--json]
//
// Needs Netron: `pip install netron==9.3.3` in an environment of its own, and NETRON_PYTHON naming its
// interpreter. Names of models are those of models.py.
//
// A picture is readable when the nodes of the first view are in place, nothing says "loading" any more
// and two animation frames have passed. Netron reads the file in the browser; ours is analysed first, and
// that time counts: "page" is the command line to a one-file page plus opening it, "Lab" is a double click
// in JupyterLab, server and all. CPU is that of the browser's processes until then, and of the analysis
// (for Lab, of the server and its children). Every opening is a new browser.
//
// What is compared. Netron reads and draws every node of a chain; ours draws what can be read, repeats
// folded into one box, and knows the costs of every node: two answers to "show me this model", not the
// same picture. Netron's server is started before the clock; for "page" the clock holds the start of
// Python and the imports (half of a second of CPU time, whatever the model), which Netron's own command
// line would need as well. On a machine that others use, times say little: the last column compares
// CPU seconds, which need not agree with times (a browser works on several cores).
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  argument,
  cpuOf,
  cpuOfTree,
  flag,
  freePort,
  freshLab,
  launch,
  median,
  memoryOf,
  openInLab,
  reachable,
  startLab
} from './browser.mjs';

const directory = dirname(fileURLToPath(import.meta.url));
const WANTED = '9.3.3';
const RUNS = Number(argument('runs') ?? 3);
/** Seconds after which an opening is given up. */
const LIMIT = Number(argument('limit') ?? 120);
const SHOTS = argument('shots');
const MODELS = (
  argument('models') ??
  'resnet50,chain-1000,decoder-1000,chain-5000,decoder-5000,chain-10000,decoder-10000'
).split(',');
/** What the page says before the time. */
const WORD = 'picture readable at';
const DRAWN = '.oad-GraphHost[data-scene-version]';
/** How often as fast as Netron we mean to be, and from how many nodes on. */
const BAR = { ratio: 10, nodes: 5000 };

function netronPython() {
  const python = process.env.NETRON_PYTHON ?? 'python';
  const result = spawnSync(
    python,
    ['-c', 'import netron; print(netron.__version__)'],
    { encoding: 'utf8' }
  );
  const version = result.stdout?.trim();
  if (result.status !== 0 || !version) {
    console.error(
      `${python} has no Netron. Make an environment with "pip install netron==${WANTED}" and set NETRON_PYTHON to its python.`
    );
    process.exit(1);
  }
  if (version !== WANTED) {
    console.error(
      `Netron ${version} here; the figures to compare with are those of ${WANTED}.`
    );
  }
  return python;
}

/**
 * Runs in the page: says when the picture is readable, in milliseconds since the navigation. By itself,
 * because Netron forbids `eval`, by which pages are asked from outside.
 */
function watch(isReady, word) {
  const look = () => {
    if (document.body && isReady()) {
      requestAnimationFrame(() =>
        requestAnimationFrame(() =>
          console.debug(`${word} ${performance.now()}`)
        )
      );
    } else {
      requestAnimationFrame(look);
    }
  };
  requestAnimationFrame(look);
}

/** Netron's graph is laid out and its spinner and messages are gone. */
function netronReady() {
  const { classList } = document.body;
  return (
    document.querySelector('#target g.node[transform], #target .node') &&
    classList.contains('default') &&
    !['spinner', 'welcome', 'notification', 'alert'].some(name =>
      classList.contains(name)
    )
  );
}

function oursReady() {
  return document.querySelector('.oad-GraphHost[data-scene-version]') !== null;
}

/** Answers null when it takes longer than the limit. */
async function within(work) {
  let timer;
  const late = new Promise(resolve => {
    timer = setTimeout(() => resolve(null), LIMIT * 1000);
  });
  try {
    return await Promise.race([work.catch(error => ({ error })), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What the page costs once its picture is there. */
async function costsOf(page, session, before) {
  const tab = await page.context().newCDPSession(page);
  const cpu = (await cpuOf(session)) - before;
  const memory = await memoryOf(session);
  await tab.send('HeapProfiler.collectGarbage');
  await tab.send('Performance.enable');
  const { metrics } = await tab.send('Performance.getMetrics');
  const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize').value;
  const { result } = await tab.send('Runtime.evaluate', {
    expression: "document.getElementsByTagName('*').length"
  });
  return { cpu, memory, dom: result.value, heap: heap / 1e6 };
}

/** Opens an address in a new browser; the clock starts with the navigation. */
async function openAddress(url, isReady, name) {
  const browser = await launch();
  try {
    const page = await browser.newPage({
      viewport: { width: 1400, height: 900 }
    });
    // Nothing but the server itself is asked, and Netron's question about cookies is answered.
    await page.route(/^https?:/, route =>
      new URL(route.request().url()).hostname === '127.0.0.1'
        ? route.continue()
        : route.abort()
    );
    if (url.startsWith('http')) {
      await page.context().addCookies([{ name: 'consent', value: '1', url }]);
    }
    const session = await browser.newBrowserCDPSession();
    const before = await cpuOf(session);
    const opened = await within(
      (async () => {
        const consoleMessage = page.waitForEvent('console', {
          predicate: message => message.text().startsWith(WORD),
          timeout: 0
        });
        await page.addInitScript(
          `(${watch})(${isReady}, ${JSON.stringify(WORD)})`
        );
        await page.goto(url, { waitUntil: 'commit', timeout: 0 });
        const time =
          Number((await consoleMessage).text().slice(WORD.length)) / 1000;
        return { time, ...(await costsOf(page, session, before)) };
      })()
    );
    await shot(page, name, opened);
    return opened;
  } finally {
    await browser.close();
  }
}

async function shot(page, name, opened) {
  if (SHOTS && opened && !opened.error) {
    mkdirSync(SHOTS, { recursive: true });
    await page.screenshot({ path: join(SHOTS, `${name}.png`) });
  }
}

async function openNetron(python, file, name) {
  const port = await freePort();
  const code =
    'import netron, sys; netron.start(sys.argv[1], ("127.0.0.1", int(sys.argv[2])), browse=False); netron.wait()';
  const server = spawn(python, ['-c', code, file, String(port)], {
    stdio: 'ignore'
  });
  try {
    const url = `http://127.0.0.1:${port}/`;
    await reachable(url, 'Netron');
    return await openAddress(url, netronReady, `${name}-netron`);
  } finally {
    server.kill();
  }
}

/** Runs the command line; wall and CPU seconds of it alone. */
const METER = `
import json, resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run([sys.executable, "-m", "py_autodoc", "analyze", sys.argv[1], "--assume",
                "--no-progress", "--out-html", sys.argv[2]], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"wall": time.perf_counter() - start, "cpu": used.ru_utime + used.ru_stime}))
`;

/** The command line to a one-file page, then that page. */
async function openPage(file, name) {
  const html = join(pages, `${name}.html`);
  const analysed = JSON.parse(
    execFileSync('python', ['-c', METER, file, html], { encoding: 'utf8' })
  );
  const url = pathToFileURL(html).href;
  const opened = await openAddress(url, oursReady, `${name}-page`);
  return opened && !opened.error
    ? {
        ...opened,
        analysis: analysed.wall,
        analysisCpu: analysed.cpu,
        time: opened.time + analysed.wall
      }
    : opened;
}

/** Double click in a JupyterLab that has not seen the file before. */
async function openLab(root, file, name) {
  const port = await freePort();
  const lab = await startLab(root, port);
  const browser = await launch();
  try {
    const page = await freshLab(browser, port);
    const session = await browser.newBrowserCDPSession();
    const before = await cpuOf(session);
    const served = cpuOfTree(lab.pid);
    const opened = await within(
      (async () => {
        const time = await openInLab(page, file, DRAWN, 0);
        return {
          time: time / 1000,
          analysisCpu: cpuOfTree(lab.pid) - served,
          ...(await costsOf(page, session, before))
        };
      })()
    );
    await shot(page, `${name}-lab`, opened);
    return opened;
  } finally {
    await browser.close();
    process.kill(-lab.pid);
  }
}

/** The medians of some openings; slow ones are not repeated. */
async function several(open) {
  const measurements = [];
  for (let run = 0; run < RUNS; run++) {
    const measurement = await open();
    if (measurement === null || measurement.error) {
      return {
        failed: measurement === null ? `> ${LIMIT} s` : 'failed',
        why: measurement?.error
      };
    }
    measurements.push(measurement);
    if (measurement.time > 20) {
      break;
    }
  }
  return Object.fromEntries(
    Object.keys(measurements[0]).map(key => [
      key,
      median(measurements.map(row => row[key]))
    ])
  );
}

const COLUMNS = [
  ['model', 15, 'start'],
  ['nodes', 7],
  ['viewer', 9],
  ['to picture s', 13],
  ['of it analysis', 15],
  ['CPU browser s', 14],
  ['CPU analysis', 13],
  ['DOM', 8],
  ['heap MB', 8],
  ['memory MB', 10],
  ['Netron / ours', 14],
  ['by CPU', 8]
];
const line = cells =>
  cells
    .map((cell, i) =>
      COLUMNS[i][2] ? cell.padEnd(COLUMNS[i][1]) : cell.padStart(COLUMNS[i][1])
    )
    .join('');
const fixed = (value, digits = 2) =>
  value === undefined ? '–' : value.toFixed(digits);

function print({ name, nodes, viewer, measured, netron }) {
  if (measured.failed) {
    console.log(line([name, `${nodes}`, viewer, measured.failed]));
    return;
  }
  const slow = netron.failed ? LIMIT : netron.time;
  const ratio = `${netron.failed ? '> ' : ''}${(slow / measured.time).toFixed(1)}×`;
  console.log(
    line([
      name,
      `${nodes}`,
      viewer,
      fixed(measured.time),
      fixed(measured.analysis),
      fixed(measured.cpu),
      fixed(measured.analysisCpu),
      `${measured.dom}`,
      fixed(measured.heap, 1),
      fixed(measured.memory, 0),
      viewer === 'Netron' ? '' : ratio,
      viewer === 'Netron' || netron.failed
        ? ''
        : `${(netron.cpu / (measured.cpu + (measured.analysisCpu ?? 0))).toFixed(1)}×`
    ])
  );
}

function printResult(rows) {
  for (const { name, nodes, viewer, measured, netron } of rows) {
    if (viewer !== 'page' || nodes < BAR.nodes) {
      continue;
    }
    const slow = netron.failed ? LIMIT : netron.time;
    const ratio = measured.failed ? 0 : slow / measured.time;
    const judged =
      ratio >= BAR.ratio
        ? 'OK'
        : netron.failed && !measured.failed
          ? 'not known, Netron was given up too early'
          : 'MISSED';
    console.log(
      `${name}: ${netron.failed ? 'more than ' : ''}${ratio.toFixed(1)} times as fast as Netron, analysis included; at least ${BAR.ratio} wanted: ${judged}`
    );
  }
}

const python = netronPython();
const root = mkdtempSync(join(tmpdir(), 'autodoc-netron-'));
const pages = mkdtempSync(join(tmpdir(), 'autodoc-pages-'));
try {
  const counts = JSON.parse(
    execFileSync('python', [join(directory, 'models.py'), root, ...MODELS], {
      encoding: 'utf8'
    })
  );
  const rows = [];
  const json = flag('json');
  if (!json) {
    console.log(
      `medians of ${RUNS} new browsers, one when it takes over 20 s; given up after ${LIMIT} s`
    );
    console.log(line(COLUMNS.map(([title]) => title)));
  }
  for (const name of MODELS) {
    const file = join(root, `${name}.onnx`);
    const viewers = {
      Netron: () => openNetron(python, file, name),
      page: () => openPage(file, name),
      ...(flag('no-lab')
        ? {}
        : { Lab: () => openLab(root, `${name}.onnx`, name) })
    };
    let netron;
    for (const [viewer, open] of Object.entries(viewers)) {
      const measured = await several(open);
      netron ??= measured;
      const row = { name, nodes: counts[name], viewer, measured, netron };
      rows.push(row);
      if (!json) {
        print(row);
      }
      if (measured.why) {
        console.error(`${name} in ${viewer}: ${measured.why.message}`);
      }
    }
  }
  if (json) {
    console.log(JSON.stringify(rows.map(({ netron: _, ...row }) => row)));
  } else {
    printResult(rows);
  }
} finally {
  rmSync(root, { recursive: true, force: true });
  rmSync(pages, { recursive: true, force: true });
}
