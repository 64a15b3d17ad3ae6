// What the viewer's first picture of payloads holds. Called by test_first_view.py.
//
// usage: node first_view.mjs BUDGET FILE … ; a payload a file, a line of JSON each on stdout.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

async function loadCore() {
  const folder = mkdtempSync(join(tmpdir(), 'first-view-'));
  const outfile = join(folder, 'core.mjs');
  const contents =
    "export { decode } from './model'; export { buildTree } from './tree'; export { initialOpenings } from './openings';";
  try {
    await build({
      stdin: { contents, resolveDir: join(root, 'src/core'), loader: 'ts' },
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

const { decode, buildTree, initialOpenings } = await loadCore();
const [budget, ...files] = process.argv.slice(2);
for (const file of files) {
  const tree = buildTree(decode(JSON.parse(readFileSync(file, 'utf8'))));
  const { nodeCount } = tree.model;
  const { open, hidden } = initialOpenings(tree, Number(budget));
  const gone = new Set(hidden);
  const found = { cards: 0, repeats: [], single: [] };
  const rows = [-1];
  while (rows.length > 0) {
    const row = rows.pop();
    const shown = [...tree.children[row + 1]].filter(one => !gone.has(one));
    const fold = row >= 0 && tree.groupFold[row] === 1;
    if (fold) {
      found.repeats.push(shown.length);
    } else if (row >= 0 && shown.length === 1 && tree.groupBody[row] < 0) {
      found.single.push(tree.groupLabel[row]);
    }
    for (const entity of shown) {
      if (entity >= nodeCount && open[entity - nodeCount]) {
        rows.push(entity - nodeCount);
      } else {
        found.cards++;
      }
    }
  }
  process.stdout.write(JSON.stringify(found) + '\n');
}
