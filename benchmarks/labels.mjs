/**
 * The shapes on the wires of the first pictures of the corpus, in three panes and in every flow: what
 * touches what, and what was left out although there is a place for it.
 *
 * Usage: node benchmarks/labels.mjs [--keep FOLDER] [--list] [MODEL …]
 *
 * Models as in first_picture.mjs. A place is looked for at every three units of every wire, for the
 * shortest text of the shape. Exits 1 when there is a fault.
 */
import { readFileSync } from 'node:fs';
import { flag, load, option, payloads } from './corpus.mjs';

const paths = process.argv.slice(2);
const KEEP = option(paths, 'keep');
const LIST = flag(paths, 'list');
const BUDGET = 40;
const PANES = [
  [1070, 640],
  [700, 560],
  [1800, 900]
];
const FLOWS = ['right', 'down', 'wrapped'];

const code = await load(`
  export { decodePayload } from './src/core/model/decodePayload';
  export { buildTree } from './src/core/tree/groupTree';
  export { createGraphView } from './src/core/view/graphView';
  export { createSizer } from './src/viewer/graph/cards/cardSizer';
  export { SpatialIndex } from './src/viewer/graph/scene/spatialIndex';
  export { LABELS_FROM } from './src/viewer/graph/style/levelOfDetail';
  export { cornerRect, chooseDock } from './src/viewer/graph/viewport/cornerDocks';
  export { autoCamera } from './src/viewer/graph/viewport/cameraPolicy';
  export { DrawContextFactory } from './src/viewer/graph/draw/drawContextFactory';
  export { DEFAULT_DETAILS, DEFAULT_STRINGS } from './src/viewer/graph/surfaceApi';
  export { labelsOf } from './src/viewer/graph/labels/wireLabels';
  export { labelFaults } from './src/viewer/graph/testing/labelFaults';
  export { legendFaults } from './src/viewer/graph/testing/legendFaults';
`);

const SUMS = [
  'wires',
  'visible',
  'moved',
  'shorter',
  'onLabels',
  'onBoxes',
  'onWires',
  'hidden',
  'legendOn',
  'slim'
];

async function look(payload, [w, h], flow) {
  const model = code.decodePayload(payload);
  const tree = code.buildTree(model);
  const sizer = code.createSizer(model, tree);
  const view = code.createGraphView(tree, sizer, undefined, flow);
  const pane = { w, h };
  const scene = await view.openInitialIn(BUDGET, flow, pane);
  const drawings = new code.DrawContextFactory(
    code.DEFAULT_DETAILS,
    code.DEFAULT_STRINGS
  );
  const drawing = drawings.of(scene, model, tree);
  const index = new code.SpatialIndex(scene);
  const labels = code.labelsOf(drawing, index);
  const edges = Array.from({ length: scene.edgeCount }, (_, e) => e);
  labels.place(edges);
  const placed = new Map();
  let shorter = 0;
  for (const edge of edges) {
    const label = labels.of(edge);
    if (label) {
      placed.set(edge, label);
      const text = model.shapeText(scene.edgeTensor[edge]);
      shorter += label.text.startsWith(text.slice(0, 160)) ? 0 : 1;
    }
  }
  const faults = code.labelFaults(scene, placed, edge =>
    labels.leastWidth(edge)
  );
  const camera = code.autoCamera(scene, pane, 'home');
  const legend = code.legendFaults({
    scene,
    index,
    camera,
    view: pane,
    labels
  });
  return {
    ...faults,
    shorter,
    wires: faults.visible + faults.without,
    ...legend
  };
}

let bad = 0;
for (const pane of PANES) {
  for (const flow of FLOWS) {
    const sums = Object.fromEntries(SUMS.map(key => [key, 0]));
    for (const [name, file] of payloads(KEEP, paths)) {
      const view = await look(
        JSON.parse(readFileSync(file, 'utf8')),
        pane,
        flow
      );
      for (const key of SUMS) {
        const value = view[key] ?? 0;
        sums[key] += Array.isArray(value) ? value.length : Number(value);
        if (LIST && Array.isArray(value) && value.length > 0) {
          console.log(
            `    ${name} ${flow} ${key}: ${value.slice(0, 3).join('; ')}`
          );
        }
      }
    }
    const faults =
      sums.onLabels + sums.onBoxes + sums.onWires + sums.hidden + sums.legendOn;
    bad += faults;
    console.log(
      `${faults ? '✗' : ' '} ${pane.join(' × ')} ${flow.padEnd(7)} ${sums.wires} wires, ${sums.visible} with a label, ${sums.shorter} of them shorter; ` +
        `on labels ${sums.onLabels}, on boxes ${sums.onBoxes}, on wires ${sums.onWires}; left out with a place ${sums.hidden}; ` +
        `legend on something ${sums.legendOn}, as a line ${sums.slim}`
    );
  }
}
process.exitCode = bad > 0 ? 1 : 0;
