/**
 * Times the evaluator of expressions on a pool; called by expressions.py.
 *
 * Usage: node benchmarks/expressions.mjs POOL.json '{"batch": 3}'
 *
 * Writes JSON: CPU ms of compiling and of one evaluation (median of many, sizes changing), total MACs.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

async function loadCore() {
  const folder = mkdtempSync(join(tmpdir(), 'autodoc-bench-'));
  const outfile = join(folder, 'expr.mjs');
  try {
    await build({
      entryPoints: [join(root, 'src/core/expressions/compileExpressions.ts')],
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

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const [path, text] = process.argv.slice(2);
const pool = JSON.parse(readFileSync(path, 'utf8'));
const sizes = JSON.parse(text);
const { compileExpressions } = await loadCore();
let start = cpu();
const expressions = compileExpressions(pool);
const compile = cpu() - start;
const first = Object.keys(sizes)[0];
const times = [];
for (let i = 0; i < 31; i++) {
  start = cpu();
  expressions.evaluate({ ...sizes, [first]: i + 1 });
  times.push(cpu() - start);
}
times.sort((a, b) => a - b);
const { totals } = expressions.evaluate(sizes);
process.stdout.write(
  JSON.stringify({
    compile,
    evaluate: times[times.length >> 1],
    macs: totals.macs
  })
);
