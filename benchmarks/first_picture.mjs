/**
 * The first picture of every model of the corpus in three panes: how much of it is in view and can be read,
 * in one row and as the viewer sets it; and what it costs.
 *
 * Usage: node benchmarks/first_picture.mjs [--flow auto] [--json FILE] [--keep FOLDER] [--list] [MODEL|FOLDER …]
 *
 * Models: those given (of a folder all), else tests/data/models, tests/data/stripped and what is in tests/data/zoo.zip. They are
 * analysed by the Python of this checkout (`PYTHON`, else .venv/bin/python, else python3); `--keep` keeps what
 * comes of it for the next run. `--list` prints each model. CPU milliseconds (user + system), best of several runs in turn.
 * Exits 1 when a target is missed.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import {
  load,
  option as takeOption,
  flag as takeFlag,
  payloads
} from './corpus.mjs';

const paths = process.argv.slice(2);
const option = (name, fallback) => takeOption(paths, name, fallback);
const flag = name => takeFlag(paths, name);
const FLOW = option('flow', 'auto');
const JSON_FILE = option('json');
const KEEP = option('keep');
const LIST = flag('list');
const BUDGET = 40;
const PANES = [
  [1070, 640],
  [700, 560],
  [1800, 900]
];
/** Shares of the models, per pane; the last two are of all. */
const TARGETS = { whole: [1, 0.97, 1], titles: [0.8, 0.45, 0.9], covered: 0.6 };
const TITLE = 11;

const code = await load(`
        export { decodePayload } from './src/core/model/decodePayload';
        export { buildTree } from './src/core/tree/groupTree';
        export { createGraphView } from './src/core/view/graphView';
        export { fitZoom } from './src/core/layout/paneZoom';
        export { BoxKind } from './src/core/types';
        export { layered } from './src/core/layout/layered/layered';
        export { layOutInRows } from './src/core/layout/rows/inRows';
        export { LAYOUT_OPTIONS } from './src/core/layout/layered/layoutTypes';
        export { simpleInput } from './src/core/testing/layoutInput';
        export { llamaPayload } from './src/core/testing/payloads';
        export { sceneFaults } from './src/core/testing/sceneFaults';
        export { initialCamera, rowsCamera, sceneSize, visibleRect } from './src/viewer/graph/geometry/camera';
        export { mainLineOffset } from './src/viewer/graph/scene/entityBoxes';
        export { drawBox } from './src/viewer/graph/draw/drawBox';
        export { CardContents } from './src/viewer/graph/cards/cardContents';
        export { createSizer } from './src/viewer/graph/cards/cardSizer';
        export { lodOf } from './src/viewer/graph/style/levelOfDetail';
        export { BoxColors } from './src/viewer/graph/style/boxColors';
        export { TextMeasure } from './src/viewer/graph/text/textMeasure';
        export { DEFAULT_DETAILS } from './src/viewer/graph/surfaceApi';
`);

/** Share of the cards whose title is so large on the screen that it is read at a glance. */
function readableTitles({ scene, model, tree }, k) {
  const measure = new code.TextMeasure('Helvetica, Arial, sans-serif');
  const cards = new code.CardContents(
    model,
    tree,
    code.DEFAULT_DETAILS,
    undefined,
    measure
  );
  const paint = new code.BoxColors(scene, model, null);
  const drawing = { scene, model, tree, paint, cards, measure };
  let [total, readable] = [0, 0];
  for (let box = 0; box < scene.boxCount; box++) {
    if (scene.boxKind[box] <= 2) {
      let size = 0;
      const text = (x, y, content, style) =>
        (size = style.weight >= 600 ? Math.max(size, style.size) : size);
      const sink = { rect() {}, path() {}, text };
      code.drawBox(drawing, box, k, code.lodOf(k), sink);
      total++;
      readable += size * k >= TITLE - 0.05 ? 1 : 0;
    }
  }
  return readable / total;
}

async function look(payload, [w, h], flow) {
  const model = code.decodePayload(payload);
  const tree = code.buildTree(model);
  const view = code.createGraphView(
    tree,
    code.createSizer(model, tree),
    undefined,
    flow
  );
  const pane = { w, h };
  const scene = await view.openInitialIn(BUDGET, flow, pane);
  const zoom = code.fitZoom(scene, pane);
  const isWhole = zoom >= 0.5 - 1e-9;
  const titles = readableTitles({ scene, model, tree }, zoom);
  const cards = scene.boxKind.filter(kind => kind < 2).length;
  const size = code.sceneSize(scene);
  const { k } = scene.inRows
    ? code.rowsCamera(size, pane)
    : code.initialCamera(size, pane);
  return {
    zoom,
    whole: isWhole,
    titled: isWhole && titles >= 0.9,
    cards,
    covered:
      (Math.min(w, scene.width * k) * Math.min(h, scene.height * k)) / (w * h),
    inRows: scene.inRows,
    faults: code.sceneFaults(scene)
  };
}

const median = values =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
async function best(runs, run) {
  let least = Infinity;
  for (let i = 0; i < runs; i++) {
    const start = cpu();
    await run();
    least = Math.min(least, cpu() - start);
  }
  return least;
}

/** The least CPU of each, run in turn; `warm` rounds go before and do not count. */
async function bestOf(runs, warm, rounds) {
  const least = runs.map(() => Infinity);
  for (let round = -warm; round < rounds; round++) {
    for (const [i, run] of runs.entries()) {
      const spent = await best(1, run);
      least[i] = round < 0 ? least[i] : Math.min(least[i], spent);
    }
  }
  return least;
}

/** A flat chain with a skip over two of every seven nodes, as blocks have. */
function flat(count) {
  const [source, target] = [[], []];
  for (let v = 1; v < count; v++) {
    source.push(v - 1);
    target.push(v);
    if (v % 7 === 3) {
      source.push(v - 3);
      target.push(v);
    }
  }
  const sizes = size => new Array(count).fill(size);
  return code.simpleInput(sizes(120), sizes(50), source, target);
}

async function costs() {
  const payload = code.llamaPayload(21);
  const model = code.decodePayload(payload);
  const tree = code.buildTree(model);
  const sizer = code.createSizer(model, tree);
  const pane = { w: 1070, h: 640 };
  const first = flow => () =>
    code
      .createGraphView(tree, sizer, undefined, flow)
      .openInitialIn(BUDGET, flow, pane);
  const counts = {
    nodes: payload.nodes.op.length,
    straight: await best(15, first('right')),
    auto: await best(15, first('auto'))
  };
  const options = { ...code.LAYOUT_OPTIONS, rankGap: 76, maxSpan: Infinity };
  for (const count of [10000, 50000]) {
    const input = flat(count);
    const straight = code.layered(input, options);
    const paneLength = Math.sqrt(straight.width * straight.height * 1.6);
    // In turn, so that both see the same machine; the first runs only warm the code up.
    const [layoutTime, rowsTime] = await bestOf(
      [
        () => code.layered(input, options),
        () => code.layOutInRows(input, straight, { room: paneLength })
      ],
      3,
      count < 20000 ? 12 : 6
    );
    counts[`flat ${count}`] = layoutTime;
    counts[`rows ${count}`] = rowsTime;
    counts[`ratio ${count}`] = (layoutTime + rowsTime) / layoutTime;
  }
  return counts;
}

const percent = value => `${Math.round(100 * value)} %`.padStart(6);
const files = payloads(KEEP, paths);
const results = [];
let missed = 0;
const check = (isMet, line) => {
  missed += isMet ? 0 : 1;
  console.log(`${isMet ? '  ' : '✗ '}${line}`);
};
for (const [index, pane] of PANES.entries()) {
  const views = { auto: [], right: [] };
  for (const [name, file] of files) {
    const payload = JSON.parse(readFileSync(file, 'utf8'));
    for (const flow of ['right', FLOW]) {
      const view = await look(payload, pane, flow);
      views[flow === FLOW ? 'auto' : 'right'].push(view);
      results.push({ pane, name, flow, ...view });
    }
    if (LIST) {
      const { zoom, cards, covered, titled, inRows } = views.auto.at(-1);
      console.log(
        `    ${name.padEnd(34)} ${zoom.toFixed(2)} ${String(cards).padStart(3)} cards ${percent(covered)} ${inRows ? 'rows' : 'row '} ${titled ? '' : 'titles'}`
      );
    }
  }
  console.log(`${pane.join(' × ')}, ${files.length} models: one row → ${FLOW}`);
  const share = (list, key) =>
    list.filter(view => view[key]).length / list.length;
  const bothShares = key =>
    `${percent(share(views.right, key))} → ${percent(share(views.auto, key))}`;
  check(
    share(views.auto, 'whole') >= TARGETS.whole[index],
    `wholly in view at zoom 0.5 or more: ${bothShares('whole')} (target ${percent(TARGETS.whole[index])})`
  );
  check(
    share(views.auto, 'titled') >= TARGETS.titles[index],
    `and 90 % of the titles at ${TITLE} px or more: ${bothShares('titled')} (target ${percent(TARGETS.titles[index])})`
  );
  const covered = list => median(list.map(view => view.covered));
  check(
    covered(views.auto) >= TARGETS.covered,
    `pane covered, median: ${percent(covered(views.right))} → ${percent(covered(views.auto))} (target ${percent(TARGETS.covered)})`
  );
  const faults = views.auto.flatMap(view => view.faults);
  check(
    faults.length === 0,
    `overlaps, loose wires, wires through boxes: ${faults.length}`
  );
  const cards = list => list.reduce((sum, view) => sum + view.cards, 0);
  console.log(
    `  cards: ${cards(views.right)} → ${cards(views.auto)}; zoom, median: ${median(views.right.map(view => view.zoom)).toFixed(2)} → ${median(views.auto.map(view => view.zoom)).toFixed(2)}`
  );
}
const spent = await costs();
console.log('CPU ms');
check(
  spent.auto <= 8,
  `first picture of ${spent.nodes} nodes: one row ${spent.straight.toFixed(1)}, ${FLOW} ${spent.auto.toFixed(1)} (target 8)`
);
for (const count of [10000, 50000]) {
  check(
    spent[`ratio ${count}`] <= 1.4,
    `flat ${count}: layout ${spent[`flat ${count}`].toFixed(0)}, rows ${spent[`rows ${count}`].toFixed(0)} on top: × ${spent[`ratio ${count}`].toFixed(2)} (target 1.40)`
  );
}
if (JSON_FILE) {
  writeFileSync(JSON_FILE, JSON.stringify({ results, spent }, null, 1));
}
process.exitCode = missed > 0 ? 1 : 0;
