/**
 * Measures what dagre and elk make of the graphs of the layout's quality test and writes the figures
 * into `src/core/testing/layouts.json`.
 *
 * Usage: node scripts/layout_rivals.mjs [--check]
 *
 * With `--check` nothing is written; exits 1 when a figure differs.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ELK from 'elkjs/lib/elk.bundled.js';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = join(root, 'src/core/testing/layouts.json');

/** The engines and the measure, bundled for Node. The bundle lies in the root for its packages. */
async function load() {
  const folder = mkdtempSync(join(root, 'node_modules/.layout-'));
  const outfile = join(folder, 'quality.mjs');
  try {
    await build({
      stdin: {
        contents: `
          export * from './src/core/testing/rivals';
          export * from './src/core/testing/quality';
        `,
        resolveDir: root,
        loader: 'ts'
      },
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      outfile,
      logLevel: 'error'
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { qualityOf, drawOurs, drawDagre, drawElk } = await load();
const figures = (graph, layout) => {
  const { crossings, length } = qualityOf(graph, layout);
  return { crossings, length: Math.round(length) };
};

const layouts = JSON.parse(readFileSync(file, 'utf8'));
const elk = new ELK();
let differs = false;
for (const [name, entry] of Object.entries(layouts)) {
  const { graph } = entry;
  const rivals = {
    dagre: figures(graph, drawDagre(graph)),
    elk: figures(graph, await drawElk(elk, graph))
  };
  const ours = figures(graph, drawOurs(graph));
  const cell = ({ crossings, length }) =>
    `${String(crossings).padStart(5)} ${String(length).padStart(8)}`;
  process.stdout.write(
    `${name.padEnd(20)} ours ${cell(ours)}   dagre ${cell(rivals.dagre)}   elk ${cell(rivals.elk)}\n`
  );
  differs ||= JSON.stringify(rivals) !== JSON.stringify(entry.rivals);
  entry.rivals = rivals;
}
if (!process.argv.includes('--check')) {
  const rows = Object.entries(layouts).map(
    ([name, entry]) => `"${name}":${JSON.stringify(entry)}`
  );
  writeFileSync(file, `{${rows.join(',\n')}}\n`);
} else if (differs) {
  console.error('Figures differ; run node scripts/layout_rivals.mjs');
  process.exitCode = 1;
}
