/**
 * One layout of one graph by one engine, in a process of its own; `benchmarks/layout.mjs` starts it.
 *
 * Usage: node benchmarks/layout_engine.mjs ENGINE GRAPH.json MODULE
 *
 * ENGINE is ours, dagre, elk or netron; MODULE is where Netron's engine lies, for the others the bundle of
 * the core with `testing/rivals.ts`. Prints one line of
 * JSON: CPU milliseconds (user + system) of the layout, peak memory over what the process had before.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [engine, file, module] = process.argv.slice(2);
const graph = JSON.parse(readFileSync(file, 'utf8'));

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Each gives a function that does nothing but the layout. */
const ENGINES = {
  async ours() {
    const { layered, inputOf } = await import(pathToFileURL(module).href);
    const input = inputOf(graph);
    return () => layered(input);
  },
  async dagre() {
    const { dagreGraph, runDagre } = await import(pathToFileURL(module).href);
    const g = dagreGraph(graph);
    return () => runDagre(g);
  },
  async elk() {
    const { elkGraph } = await import(pathToFileURL(module).href);
    const { default: ELK } = await import('elkjs/lib/elk.bundled.js');
    const elk = new ELK();
    const input = elkGraph(graph);
    return () => elk.layout(input);
  },
  /** As Netron calls it: its gaps, its quicker columns above 3,000 nodes. */
  async netron() {
    const { layout } = await import(pathToFileURL(module).href);
    const nodes = graph.width.map((width, v) => ({
      v: String(v),
      width,
      height: graph.height[v]
    }));
    const edges = graph.source.map((s, e) => ({
      v: String(s),
      w: String(graph.target[e]),
      minlen: 1,
      weight: 1,
      width: 0,
      height: 0,
      labeloffset: 10,
      labelpos: 'r'
    }));
    const options = { nodesep: 20, ranksep: 20, rankdir: 'LR' };
    if (nodes.length > 3000) {
      options.ranker = 'longest-path';
    }
    return () => layout(nodes, edges, options, {});
  }
};

const run = await ENGINES[engine]();
globalThis.gc?.();
const before = process.memoryUsage().rss;
const start = cpu();
let fault = null;
try {
  await run();
} catch (error) {
  fault = /call stack/.test(String(error)) ? 'stack' : String(error);
}
process.stdout.write(
  `${JSON.stringify({
    cpu: cpu() - start,
    memory: (process.resourceUsage().maxRSS * 1024 - before) / 2 ** 20,
    fault
  })}\n`
);
