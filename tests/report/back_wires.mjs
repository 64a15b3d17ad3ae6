// The wires that run back in the pictures of payloads. Called by test_calls.py.
//
// usage: node back_wires.mjs FILE … ; a payload a file, a line of JSON each on stdout: by picture (first, all closed,
// all open) the names of what such wires carry.
import { readFileSync } from 'node:fs';
import { loadCore } from './core.mjs';

const { decodePayload, buildTree, createGraphView, plainSizer } = await loadCore();

function runningBack(tree, scene) {
  const found = [];
  for (let e = 0; e < scene.edgeCount; e++) {
    const from = scene.edgePoints[2 * scene.edgeOffsets[e]];
    const to = scene.edgePoints[2 * (scene.edgeOffsets[e + 1] - 1)];
    if (to < from) {
      found.push(tree.model.payload.tensors.name[scene.edgeTensor[e]] ?? '');
    }
  }
  return found;
}

for (const file of process.argv.slice(2)) {
  const tree = buildTree(decodePayload(JSON.parse(readFileSync(file, 'utf8'))));
  const view = createGraphView(tree, plainSizer(tree.model, tree));
  const first = runningBack(tree, await view.openInitial(40));
  const closed = runningBack(tree, await view.collapseAll());
  const open = runningBack(tree, await view.expandAll(Infinity));
  process.stdout.write(JSON.stringify({ first, closed, open }) + '\n');
}
