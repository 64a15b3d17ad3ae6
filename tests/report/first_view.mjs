// What the viewer's first picture of payloads holds. Called by test_first_view.py.
//
// usage: node first_view.mjs BUDGET LENGTH FILE … ; a payload a file, a line of JSON each on stdout: what the
// budget allows (`most`), what has room in one row of that length (`pane`), and what the viewer opens in a pane
// of 1,070 × 640 pixels, in rows where they show more (`rows`).
import { readFileSync } from 'node:fs';
import { loadCore } from './core.mjs';

/** What is shown when these groups are open and these entities hidden. */
function shownOf(tree, isOpen, gone) {
  const { nodeCount } = tree.model;
  const found = { cards: 0, repeats: [], single: [] };
  const rows = [-1];
  while (rows.length > 0) {
    const row = rows.pop();
    const shown = [...tree.children[row + 1]].filter(one => !gone.has(one));
    if (row >= 0 && tree.groupIsRepeat[row] === 1) {
      found.repeats.push(shown.length);
    } else if (row >= 0 && shown.length === 1 && tree.groupBody[row] < 0) {
      found.single.push(tree.groupLabel[row]);
    }
    for (const entity of shown) {
      if (entity >= nodeCount && isOpen(entity - nodeCount)) {
        rows.push(entity - nodeCount);
      } else {
        found.cards++;
      }
    }
  }
  return found;
}

const { decodePayload, buildTree, createGraphView, plainSizer } = await loadCore();
const [budget, pane, ...files] = process.argv.slice(2);
for (const file of files) {
  const tree = buildTree(decodePayload(JSON.parse(readFileSync(file, 'utf8'))));
  const view = createGraphView(tree, plainSizer(tree.model, tree));
  const look = async length => {
    await (typeof length === 'number'
      ? view.openInitial(Number(budget), length)
      : view.openInitialIn(Number(budget), 'auto', length));
    return shownOf(tree, group => view.isOpen(group), new Set(view.hidden()));
  };
  const found = {
    most: await look(Infinity),
    pane: await look(Number(pane)),
    rows: await look({ w: 1070, h: 640 })
  };
  process.stdout.write(JSON.stringify(found) + '\n');
}
