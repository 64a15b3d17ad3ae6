/**
 * CPU time of the tree, the first view, expanding and the flat layout, against the targets and
 * against @dagrejs/dagre in the same run.
 *
 * Usage: node benchmarks/layout.mjs [--json FILE]
 *
 * CPU milliseconds (user + system), best of several runs, because wall time on a shared machine
 * says little. Exits 1 when a figure is more than three times its target.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import dagre from '@dagrejs/dagre';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Bundles the core and its synthetic models for Node and imports the bundle. */
async function loadCore() {
  const folder = mkdtempSync(join(tmpdir(), 'autodoc-bench-'));
  const outfile = join(folder, 'core.mjs');
  try {
    await build({
      stdin: {
        contents: `
          export * from './src/core/index';
          export { layered, simpleInput } from './src/core/layout/layered';
          export { LevelBuilder } from './src/core/levels';
          export * from './src/core/testing/payloads';
          export { plainSizer } from './src/core/testing/sizer';
        `,
        resolveDir: root,
        loader: 'ts'
      },
      bundle: true,
      format: 'esm',
      platform: 'node',
      outfile,
      logLevel: 'error'
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const say = line => process.stdout.write(`${line}\n`);

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Best CPU ms of `runs` calls; `prepare` is not counted. */
async function best(runs, prepare, run) {
  let least = Infinity;
  for (let i = 0; i < runs; i++) {
    const given = await prepare();
    const start = cpu();
    await run(given);
    least = Math.min(least, cpu() - start);
  }
  return least;
}

/** A Llama-like model of about so many nodes. */
function modelOf(core, nodes) {
  const perLayer =
    core.llamaPayload(2).nodes.op.length - core.llamaPayload(1).nodes.op.length;
  return core.llamaPayload(Math.round(nodes / perLayer));
}

const fresh = (core, payload) => {
  const model = core.decode(payload);
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

/** The whole model as one level, with the edges of all nodes. */
function flatInput(core, payload) {
  const bare = {
    ...payload,
    scopes: { parent: [], label: [], type: [], origin: [] }
  };
  const model = core.decode({
    ...bare,
    nodes: { ...bare.nodes, scope: bare.nodes.scope.map(() => -1) }
  });
  const tree = core.buildTree(model);
  const sizer = core.plainSizer(model, tree);
  const level = new core.LevelBuilder(tree).build(-1);
  const sizes = Array.from({ length: level.itemCount }, (_, item) =>
    item < level.children.length
      ? sizer.node(level.children[item])
      : { w: 60, h: 22 }
  );
  const pairs = new Set();
  level.linkSource.forEach((s, i) => pairs.add(`${s} ${level.linkTarget[i]}`));
  const edges = [...pairs].map(pair => pair.split(' ').map(Number));
  return core.simpleInput(
    sizes.map(({ w }) => w),
    sizes.map(({ h }) => h),
    edges.map(([s]) => s),
    edges.map(([, t]) => t)
  );
}

/** The same graph through dagre; null when it gives up (its recursion is as deep as the graph). */
function withDagre(input) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 20, ranksep: 44, edgesep: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (let item = 0; item < input.itemCount; item++) {
    graph.setNode(String(item), {
      width: input.width[item],
      height: input.height[item]
    });
  }
  input.source.forEach((s, e) =>
    graph.setEdge(String(s), String(input.target[e]))
  );
  const start = cpu();
  try {
    dagre.layout(graph);
    return cpu() - start;
  } catch (error) {
    console.warn(`dagre on ${input.itemCount} items: ${error.message}`);
    return null;
  }
}

const TARGETS = {
  'tree and first view': [15, 60, 200],
  'expand one group': [8, 16, 40],
  'expand all, remembered': [40, 80, 200],
  'flat layout': [50, 300, 1200]
};
const SIZES = [1000, 10000, 50000];

async function measure(core, nodes) {
  const payload = modelOf(core, nodes);
  const first = await best(
    5,
    () => payload,
    given => fresh(core, given).initial(40)
  );
  const open = async () => {
    const view = fresh(core, payload);
    await view.expand(0);
    return view;
  };
  const expand = await best(5, open, view =>
    view.expand(middleLayer(view.tree))
  );
  let counts = null;
  const all = await best(
    3,
    async () => fresh(core, payload),
    async view => {
      await view.expandAll(1e9);
      counts = view.layoutCounts();
    }
  );
  const input = flatInput(core, payload);
  const flat = await best(3, () => input, core.layered);
  return {
    nodes: payload.nodes.op.length,
    counts,
    dagre: nodes <= 1000 ? withDagre(input) : null,
    figures: {
      'tree and first view': first,
      'expand one group': expand,
      'expand all, remembered': all,
      'flat layout': flat
    }
  };
}

const core = await loadCore();
const results = [];
for (const nodes of SIZES) {
  results.push(await measure(core, nodes));
}
let failed = false;
say(
  'CPU ms                    ' +
    results.map(r => `${r.nodes} nodes (target)`.padStart(24)).join('')
);
for (const [name, targets] of Object.entries(TARGETS)) {
  const cells = results.map((result, i) => {
    const value = result.figures[name];
    failed ||= value > 3 * targets[i];
    return `${value.toFixed(1)} (${targets[i]})`.padStart(24);
  });
  say(name.padEnd(26) + cells.join(''));
}
for (const { nodes, counts } of results) {
  say(
    `${nodes} nodes, all open: ${counts.computed} layouts computed, ${counts.remembered} remembered`
  );
}
const [small] = results;
if (small.dagre !== null) {
  const ratio = small.dagre / small.figures['flat layout'];
  say(
    `dagre, flat, ${small.nodes} nodes: ${small.dagre.toFixed(0)} ms, ${ratio.toFixed(0)} times ours`
  );
}
const at = process.argv.indexOf('--json');
if (at > 0) {
  writeFileSync(
    process.argv[at + 1],
    JSON.stringify({ targets: TARGETS, results }, null, 2)
  );
}
if (failed) {
  console.error('A figure is more than three times its target.');
  process.exitCode = 1;
}
