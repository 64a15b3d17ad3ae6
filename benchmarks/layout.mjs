/**
 * CPU time and memory of our layout against the targets, and against dagre, elk and Netron's engine on the
 * same graphs in the same run.
 *
 * Usage: node benchmarks/layout.mjs [--json FILE] [--limit SECONDS] [--graphs NAME,…] [--no-rivals]
 *
 * Graphs: `chain` (a Llama-like model, all nodes at once), `shared` (the same with three tensors that every
 * layer reads), `experts` (mixtures of experts). CPU milliseconds (user + system), because wall time on a
 * shared machine says little; the limit is wall time. `stack` = the engine overflowed the stack, `–` = not
 * tried, because it failed on a smaller graph. Netron's engine is taken from the PyPI package netron: from
 * the folder that NETRON_PACKAGE names (the one with dagre.js in it), else from where Python finds it.
 * Exits 1 when a figure of ours is more than three times its target.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const directory = dirname(fileURLToPath(import.meta.url));
const argument = name => {
  const position = process.argv.indexOf(`--${name}`);
  return position > 0 ? process.argv[position + 1] : undefined;
};
const LIMIT = Number(argument('limit') ?? 60);
const GRAPHS = (argument('graphs') ?? 'chain,shared').split(',');
const folder = mkdtempSync(join(tmpdir(), 'autodoc-bench-'));
const coreFile = join(folder, 'core.mjs');

/** Bundles the core and its synthetic models for Node and imports the bundle. */
async function loadCore() {
  await build({
    stdin: {
      contents: `
        export * from './src/core/index';
        export { layered } from './src/core/layout/layered/layered';
        export { LevelBuilder } from './src/core/tree/groupLevel';
        export * from './src/core/testing/payloads';
        export * from './src/core/testing/rivals';
        export { plainSizer } from './src/core/testing/sizer';
      `,
      resolveDir: root,
      loader: 'ts'
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile: coreFile,
    logLevel: 'error'
  });
  return import(pathToFileURL(coreFile).href);
}

/** Netron's engine, null when there is none. */
function netronEngine() {
  const packagePath = process.env.NETRON_PACKAGE;
  const result = packagePath
    ? null
    : spawnSync('python', ['-c', 'import netron; print(netron.__file__)'], {
        encoding: 'utf8'
      });
  const folder =
    packagePath ?? (result.status === 0 ? dirname(result.stdout.trim()) : '');
  const file = join(folder, 'dagre.js');
  if (folder && existsSync(file)) {
    return file;
  }
  console.error(
    'Netron is left out: "pip install netron==9.3.3", or NETRON_PACKAGE=<its folder with dagre.js>.'
  );
  return null;
}

const print = line => process.stdout.write(`${line}\n`);

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Best CPU ms of `runs` calls; `prepare` is not counted. */
async function best(runs, prepare, run) {
  let least = Infinity;
  for (let i = 0; i < runs; i++) {
    const input = await prepare();
    const start = cpu();
    await run(input);
    least = Math.min(least, cpu() - start);
  }
  return least;
}

const MODELS = {
  chain: [0, 0],
  shared: [3, 0],
  experts: [0, 16]
};

/** A Llama-like model of about so many nodes. */
function modelOf(core, nodes, name = 'chain') {
  const [shared, experts] = MODELS[name];
  const make = layers =>
    core.llamaPayload(layers, shared, experts || undefined);
  const perLayer = make(2).nodes.op.length - make(1).nodes.op.length;
  return make(Math.max(1, Math.round(nodes / perLayer)));
}

const newView = (core, payload) => {
  const model = core.decodePayload(payload);
  const tree = core.buildTree(model);
  return core.createGraphView(tree, core.plainSizer(model, tree));
};

/** A layer in the middle of the model. */
function middleLayer(tree) {
  const layers = tree.groupLabel
    .map((label, group) => ({ label, group }))
    .filter(({ label }) => /^layers\.\d+$/.test(label));
  return layers[Math.floor(layers.length / 2)].group;
}

/** The whole model as one level, with the edges of all nodes: sizes, ends, tensors. */
function flatGraph(core, payload) {
  const unlabelled = {
    ...payload,
    scopes: { parent: [], label: [], type: [], origin: [] }
  };
  const model = core.decodePayload({
    ...unlabelled,
    nodes: { ...unlabelled.nodes, scope: unlabelled.nodes.scope.map(() => -1) }
  });
  const tree = core.buildTree(model);
  const sizer = core.plainSizer(model, tree);
  const level = new core.LevelBuilder(tree).build(-1);
  const sizes = Array.from({ length: level.itemCount }, (_, item) =>
    item < level.children.length
      ? sizer.node(level.children[item])
      : { w: 60, h: 22 }
  );
  const wires = new Map();
  level.linkSource.forEach((s, i) => {
    const key = `${s} ${level.linkTarget[i]}`;
    if (!wires.has(key)) {
      wires.set(key, [s, level.linkTarget[i], level.linkTensor[i]]);
    }
  });
  const rows = [...wires.values()];
  return {
    width: sizes.map(({ w }) => w),
    height: sizes.map(({ h }) => h),
    source: rows.map(([s]) => s),
    target: rows.map(([, t]) => t),
    trunk: rows.map(([, , tensor]) => tensor)
  };
}

/** One layout in a process of its own; what it printed, or why there is nothing. */
function inProcess(engine, graph, module) {
  const file = join(folder, 'graph.json');
  writeFileSync(file, JSON.stringify(graph));
  const script = join(directory, 'layout_engine.mjs');
  const options = ['--expose-gc', '--max-old-space-size=8000'];
  return new Promise(resolve => {
    const child = spawn(
      process.execPath,
      [...options, script, engine, file, module ?? ''],
      { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] }
    );
    let text = '';
    let talk = '';
    child.stdout.on('data', data => (text += data));
    child.stderr.on('data', data => (talk += data));
    const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT * 1000);
    child.on('close', code => {
      clearTimeout(timer);
      if (code === 0) {
        resolve(JSON.parse(text.trim().split('\n').pop()));
      } else {
        const late = code === null;
        resolve({ fault: late ? 'late' : talk.trim().split('\n')[0] });
      }
    });
  });
}

const TARGETS = {
  'tree and first view, ms': [15, 60, 200],
  'expand one group, ms': [8, 16, 40],
  'expand all, cached, ms': [40, 80, 200],
  'flat layout, ms': [50, 300, 1200],
  'flat layout, MB': [20, 90, 230]
};
const SIZES = [1000, 10000, 50000];
const RIVAL_SIZES = [1000, 5000, 10000, 50000];

async function measure(core, nodes) {
  const payload = modelOf(core, nodes);
  const first = await best(
    9,
    () => payload,
    input => newView(core, input).openInitial(40)
  );
  const open = async () => {
    const view = newView(core, payload);
    await view.expand(0);
    return view;
  };
  const expand = await best(9, open, view =>
    view.expand(middleLayer(view.tree))
  );
  let counts = null;
  const wholeTime = await best(
    3,
    async () => newView(core, payload),
    async view => {
      await view.expandAll(1e9);
      counts = view.layoutCounts();
    }
  );
  const graph = flatGraph(core, payload);
  const input = core.inputOf(graph);
  const flat = await best(9, () => input, core.layered);
  const { memory } = await inProcess('ours', graph, coreFile);
  const values = [first, expand, wholeTime, flat, memory];
  return {
    nodes: payload.nodes.op.length,
    counts,
    figures: Object.fromEntries(
      Object.keys(TARGETS).map((name, i) => [name, values[i]])
    )
  };
}

function printTargets(results) {
  print(
    'ours (target)'.padEnd(28) +
      results.map(r => `${r.nodes} nodes`.padStart(24)).join('')
  );
  let failed = false;
  for (const [name, targets] of Object.entries(TARGETS)) {
    const cells = results.map(({ figures }, i) => {
      const value = figures[name];
      failed ||= value > 3 * targets[i];
      const status = value <= targets[i] ? 'OK' : 'OVER';
      return `${value.toFixed(1)} (${targets[i]}) ${status.padEnd(4)}`.padStart(
        24
      );
    });
    print(name.padEnd(28) + cells.join(''));
  }
  for (const { nodes, counts } of results) {
    print(
      `${nodes} nodes, all open: ${counts.computed} layouts computed, ${counts.cached} cached`
    );
  }
  return failed;
}

/** CPU of all engines on one kind of graph, each in a process of its own. */
async function compare(core, name, modules) {
  const rows = {};
  const failedBefore = new Set();
  for (const nodes of RIVAL_SIZES) {
    const graph = flatGraph(core, modelOf(core, nodes, name));
    for (const [engine, module] of Object.entries(modules)) {
      const row = (rows[engine] ??= []);
      if (failedBefore.has(engine)) {
        row.push(null);
        continue;
      }
      const result = await inProcess(engine, graph, module);
      if (result.fault) {
        failedBefore.add(engine);
      }
      row.push({ items: graph.width.length, ...result });
    }
  }
  return rows;
}

function cellOf(result, ours) {
  if (result === null) {
    return '–';
  }
  if (result.fault) {
    return result.fault === 'late' ? `>${LIMIT} s` : result.fault.slice(0, 24);
  }
  const ratio =
    result === ours ? '' : ` (${(result.cpu / ours.cpu).toFixed(0)}×)`;
  return `${result.cpu.toFixed(0)}${ratio}`;
}

function printComparison(name, rows) {
  const sizes = rows.ours.map(({ items }) => `${items} items`.padStart(18));
  print(`\n${name}, CPU ms (times ours)`.padEnd(31) + sizes.join(''));
  for (const [engine, row] of Object.entries(rows)) {
    const cells = row.map((result, i) => cellOf(result, rows.ours[i]));
    print(engine.padEnd(30) + cells.map(cell => cell.padStart(18)).join(''));
  }
}

async function main() {
  const core = await loadCore();
  const results = [];
  for (const nodes of SIZES) {
    results.push(await measure(core, nodes));
  }
  const failed = printTargets(results);
  const comparisons = {};
  if (!process.argv.includes('--no-rivals')) {
    const netron = netronEngine();
    const modules = { ours: coreFile, dagre: coreFile, elk: coreFile };
    for (const name of GRAPHS) {
      const selected = netron ? { ...modules, netron } : modules;
      comparisons[name] = await compare(core, name, selected);
      printComparison(name, comparisons[name]);
    }
  }
  const json = argument('json');
  if (json) {
    const record = { targets: TARGETS, results, comparisons };
    writeFileSync(json, JSON.stringify(record, null, 2));
  }
  if (failed) {
    console.error('A figure is more than three times its target.');
    process.exitCode = 1;
  }
}

try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
