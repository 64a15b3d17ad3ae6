// The core of the viewer, bundled for Node: for tests that ask what it makes of a payload.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

export async function loadCore() {
  const folder = mkdtempSync(join(tmpdir(), 'first-view-'));
  const outfile = join(folder, 'core.mjs');
  const contents =
    "export { decodePayload } from './model/decodePayload';" +
    "export { buildTree } from './tree/groupTree';" +
    "export { MATCHERS } from './matching/matchers';" +
    "export { createGraphView } from './view/graphView'; export { plainSizer } from './testing/sizer';";
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
