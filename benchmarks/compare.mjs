// The viewer's matcher on two payloads. Called by compare.py.
//
// usage: node compare.mjs LEFT.json RIGHT.json; prints {"seconds": CPU of the matching alone, "matched": pairs}.
import { readFileSync } from 'node:fs';
import { loadCore } from '../tests/report/core.mjs';

const { decodePayload, buildTree, MATCHERS } = await loadCore();
const [left, right] = process.argv
  .slice(2)
  .map(file =>
    buildTree(decodePayload(JSON.parse(readFileSync(file, 'utf8'))))
  );
const before = process.cpuUsage();
const matching = MATCHERS.auto(left, right);
const { user, system } = process.cpuUsage(before);
const { matched } = matching.counts;
process.stdout.write(
  JSON.stringify({ seconds: (user + system) / 1e6, matched }) + '\n'
);
