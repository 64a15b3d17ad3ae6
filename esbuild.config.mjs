// Bundles for places without JupyterLab's own bundler: the notebook widget and the one-file page.
//   node esbuild.config.mjs [--analyze]
// The viewer must stay small: the build fails when its code, React left out, outgrows BUDGET.
import { analyzeMetafile, build } from 'esbuild';
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
  // Members of our classes; nobody outside of a bundle knows them. React's, which are on elements, stay.
  mangleProps: /^_[a-z]{2}/,
  reserveProps: /^_(react|value|owner|store)/,
  legalComments: 'none',
  logLevel: 'warning'
};

/** Code of an entry as text. */
async function textOf(entry, options) {
  const done = await build({
    ...common,
    entryPoints: [entry],
    format: 'iife',
    write: false,
    ...options
  });
  return done.outputFiles[0].text;
}

const WORK = join(root, 'src/core/layout/work.ts');

/** Where the layout is asked for by a name that is not its own file's. */
function workFrom(path) {
  return builder => {
    builder.onResolve({ filter: /\/work$/ }, args =>
      resolve(args.resolveDir, args.path) + '.ts' === WORK
        ? { path, namespace: path }
        : undefined
    );
  };
}

/**
 * `inline-worker:path` gives the worker's code as text. The layout runs on the page as well, and is there
 * once: a function that closes over nothing, called here and written into the worker's code.
 */
const inlineWorker = {
  name: 'inline-worker',
  setup(builder) {
    const once = 'layout-once';
    workFrom(once)(builder);
    builder.onResolve({ filter: new RegExp(`^${once}$`) }, () => ({
      path: once,
      namespace: once
    }));
    builder.onLoad({ filter: /.*/, namespace: once }, async () => {
      const text = await textOf(WORK, { globalName: 'layout' });
      return {
        contents: `export function make() { ${text}; return layout.done; }
          export const done = make();`
      };
    });
    builder.onResolve({ filter: /^inline-worker:/ }, args => ({
      path: resolve(
        args.resolveDir,
        args.path.slice('inline-worker:'.length) + '.ts'
      ),
      namespace: 'inline-worker'
    }));
    builder.onLoad({ filter: /.*/, namespace: 'inline-worker' }, async args => {
      const given = {
        name: 'given',
        setup(inner) {
          workFrom('given')(inner);
          inner.onLoad({ filter: /.*/, namespace: 'given' }, () => ({
            contents: 'export const done = self.done;'
          }));
        }
      };
      const text = await textOf(args.path, { plugins: [given] });
      return {
        contents: `import { make } from '${once}';
          export default 'self.done = (' + make + ')();' + ${JSON.stringify(text)};`
      };
    });
  }
};

/** Bytes of the one-file page's code, gzipped, without React; with panels that load when first opened it shrinks. */
const BUDGET = 175_000;

/** Leaves React out. */
const withoutReact = {
  name: 'without-react',
  setup(builder) {
    const namespace = 'nothing';
    builder.onResolve({ filter: /^(react|react-dom|scheduler)(\/|$)/ }, () => ({
      path: 'react',
      namespace
    }));
    builder.onLoad({ filter: /.*/, namespace }, () => ({
      contents: 'module.exports = {}'
    }));
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
    // No workers in Node, so nothing to share with one.
    plugins: options.platform === 'node' ? [] : [inlineWorker]
  });
  const packed = gzipSync(readFileSync(options.outfile)).length;
  console.log(
    `${options.outfile.slice(root.length + 1)}  ${(packed / 1000).toFixed(1)} kB gzipped`
  );
}

const { outputFiles, metafile } = await build({
  ...common,
  entryPoints: ['src/page/index.tsx'],
  outfile: join(out, 'page.js'),
  format: 'iife',
  absWorkingDir: root,
  plugins: [inlineWorker, withoutReact],
  metafile: true,
  write: false
});
const own = gzipSync(outputFiles[0].contents).length;
console.log(`page.js without React  ${(own / 1000).toFixed(1)} kB gzipped`);
if (process.argv.includes('--analyze')) {
  console.log(await analyzeMetafile(metafile));
}
if (own > BUDGET) {
  console.error(
    `The viewer's code must not take more than ${BUDGET / 1000} kB; see what does with --analyze.`
  );
  process.exitCode = 1;
}
