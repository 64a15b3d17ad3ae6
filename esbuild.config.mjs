// Bundles for places without JupyterLab's own bundler: the notebook widget and the one-file page.
//   node esbuild.config.mjs [--analyze]
import { build } from 'esbuild';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = dirname(fileURLToPath(import.meta.url));
const out = join(root, 'py_autodoc/static');

const common = {
  bundle: true,
  minify: true,
  target: 'es2022',
  // Pages with RequireJS define `define`; we are no AMD module.
  define: { 'process.env.NODE_ENV': '"production"', 'define.amd': 'false' },
  legalComments: 'none',
  logLevel: 'warning'
};

/** `inline-worker:path` gives the bundled worker's code as text. */
const inlineWorker = {
  name: 'inline-worker',
  setup(builder) {
    builder.onResolve({ filter: /^inline-worker:/ }, args => ({
      path: resolve(
        args.resolveDir,
        args.path.slice('inline-worker:'.length) + '.ts'
      ),
      namespace: 'inline-worker'
    }));
    builder.onLoad({ filter: /.*/, namespace: 'inline-worker' }, async args => {
      const done = await build({
        ...common,
        entryPoints: [args.path],
        format: 'iife',
        write: false
      });
      return { contents: done.outputFiles[0].text, loader: 'text' };
    });
  }
};

const builds = [
  {
    entryPoints: ['src/page/index.tsx'],
    outfile: join(out, 'page.js'),
    format: 'iife'
  },
  {
    entryPoints: ['src/widget/index.tsx'],
    outfile: join(out, 'widget.js'),
    format: 'esm'
  },
  {
    entryPoints: ['src/widget/loader.ts'],
    outfile: join(out, 'loader.js'),
    format: 'esm'
  },
  {
    entryPoints: ['src/widget/dim.ts'],
    outfile: join(out, 'dim.js'),
    format: 'esm'
  },
  // For the command line: draws without a browser, in Node.
  {
    entryPoints: ['src/embed/svg.ts'],
    outfile: join(out, 'svg.js'),
    format: 'cjs',
    platform: 'node',
    target: 'node18',
    loader: { '.css': 'text' }
  },
  { entryPoints: ['style/index.css'], outfile: join(out, 'viewer.css') },
  { entryPoints: ['style/page.css'], outfile: join(out, 'page.css') }
];
for (const options of builds) {
  await build({
    ...common,
    ...options,
    absWorkingDir: root,
    plugins: [inlineWorker]
  });
  const packed = gzipSync(readFileSync(options.outfile)).length;
  console.log(
    `${options.outfile.slice(root.length + 1)}  ${(packed / 1000).toFixed(1)} kB gzipped`
  );
}
