// Counterparts of two models side by side. Called by test_counterparts.py.
//
// usage: node counterparts.mjs LEFT RIGHT … ; pairs of payloads, a line of JSON each on stdout: for each side the nodes
// without a counterpart, and the pairs as [left, right, rule].
import { readFileSync } from 'node:fs';
import { loadCore } from '../report/core.mjs';

const { decodePayload, buildTree, MATCHERS } = await loadCore();
const treeOf = file =>
  buildTree(decodePayload(JSON.parse(readFileSync(file, 'utf8'))));
const files = process.argv.slice(2);
for (let at = 0; at < files.length; at += 2) {
  const [left, right] = [treeOf(files[at]), treeOf(files[at + 1])];
  const matching = MATCHERS.auto(left, right);
  const pairs = [...left.nodeOrder]
    .map(node => [node, matching.counterpart(0, node), matching.rule(0, node)])
    .filter(([, other]) => other >= 0);
  const only = [matching.only(0), matching.only(1)];
  process.stdout.write(JSON.stringify({ only, pairs }) + '\n');
}
