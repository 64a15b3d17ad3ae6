// Bundles for places without JupyterLab's own bundler: the notebook widget and the one-file page.
//   node esbuild.config.mjs [--analyze]
// The viewer must stay small: the build fails when a budget is outgrown.
import { analyzeMetafile, build } from 'esbuild';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
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

/** What JSX compiles to: as variables, the two take less code than as members of React. */
const jsx = {
  inject: [join(root, 'src/embed/jsx.ts')],
  jsxFactory: 'createElement',
  jsxFragment: 'Fragment'
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

/** The entry of the one-file page. */
const PAGE = 'src/page/index.tsx';

const WORK = join(root, 'src/core/layout/engine/layoutWork.ts');

/** Where the layout is asked for by a name that is not its own file's. */
function workFrom(path) {
  return builder => {
    builder.onResolve({ filter: /\/layoutWork$/ }, args =>
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
        contents: `export function make() { ${text}; return layout.runLayoutWork; }
          export const runLayoutWork = make();`
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
            contents: 'export const runLayoutWork = self.runLayoutWork;'
          }));
        }
      };
      const text = await textOf(args.path, { plugins: [given] });
      return {
        contents: `import { make } from '${once}';
          export default 'self.runLayoutWork = (' + make + ')();' + ${JSON.stringify(text)};`
      };
    });
  }
};

/** Bytes of code that the first picture needs, gzipped, without React. */
const BUDGET = 130_000;
/** Bytes of the one-file page's code, gzipped: it holds all it can show. */
const PAGE_BUDGET = 260_000;

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

/** Leaves out components, by the end of their path: nothing is in their place. */
function without(...paths) {
  const namespace = `without-${paths.length}`;
  return {
    name: namespace,
    setup(builder) {
      const filter = new RegExp(`/(${paths.join('|')})$`);
      builder.onResolve({ filter }, ({ path }) => ({
        path: basename(path),
        namespace
      }));
      builder.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
        contents: `export const ${path} = () => null;`
      }));
    }
  };
}

/** What needs a server: such tabs are not shown in a page or a notebook. */
const withoutServer = without('QuantizePanel', 'RunPanel');

/** What needs somebody who reads the model's file: neither server nor kernel is behind a one-file page. */
const withoutFile = without(
  'Statistics',
  'SaveValues',
  'extract/ExtractionBanner'
);

/** Leaves out of the page what a server or a kernel is asked for. */
const withoutKernel = {
  name: 'without-kernel',
  setup(builder) {
    const namespace = 'no-kernel';
    builder.onResolve({ filter: /\/serverWork$/ }, () => ({
      path: 'work',
      namespace
    }));
    builder.onLoad({ filter: /.*/, namespace }, () => ({
      contents: 'export const startTask = null; export const attribute = null;'
    }));
  }
};

/** An entry in pieces: what it needs at once, and what it fetches when that is first used. */
async function inPieces(entry, plugins) {
  const done = await build({
    ...common,
    ...jsx,
    entryPoints: [entry],
    outdir: out,
    format: 'esm',
    splitting: true,
    chunkNames: '[name]-[hash]',
    absWorkingDir: root,
    plugins,
    metafile: true,
    write: false
  });
  const about = new Map(
    Object.entries(done.metafile.outputs).map(([path, what]) => [
      basename(path),
      what
    ])
  );
  const texts = new Map(
    done.outputFiles.map(({ path, text }) => [basename(path), text])
  );
  const first = [...about.keys()].find(
    name => about.get(name).entryPoint === entry
  );
  const eager = new Set([first]);
  for (const name of eager) {
    for (const { kind, path } of about.get(name).imports) {
      if (kind === 'import-statement') {
        eager.add(basename(path));
      }
    }
  }
  return { texts, first, eager, metafile: done.metafile };
}

const packed = text => gzipSync(text).length;

/** `widget-pieces`: the code of the notebook widget as texts. */
const widgetPieces = {
  name: 'widget-pieces',
  setup(builder) {
    const name = 'widget-pieces';
    builder.onResolve({ filter: /^widget-pieces$/ }, () => ({
      path: name,
      namespace: name
    }));
    builder.onLoad({ filter: /.*/, namespace: name }, async () => {
      const { texts, first } = await inPieces('src/widget/index.tsx', [
        inlineWorker,
        withoutServer
      ]);
      const pieces = JSON.stringify(Object.fromEntries(texts));
      const version = createHash('sha256').update(pieces).digest('hex');
      return {
        contents: `export const pieces = ${pieces};
          export const entry = ${JSON.stringify(first)};
          export const version = ${JSON.stringify(version.slice(0, 16))};`
      };
    });
  }
};

const builds = [
  {
    ...jsx,
    entryPoints: [PAGE],
    outfile: join(out, 'page.js'),
    format: 'iife'
  },
  {
    entryPoints: ['src/widget/pieced.ts'],
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
    entryPoints: ['src/embed/svgCli.ts'],
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
    plugins:
      options.platform === 'node'
        ? []
        : [
            inlineWorker,
            withoutServer,
            withoutKernel,
            widgetPieces,
            ...(options.entryPoints[0] === PAGE ? [withoutFile] : [])
          ]
  });
  const bytes = packed(readFileSync(options.outfile));
  console.log(
    `${options.outfile.slice(root.length + 1)}  ${(bytes / 1000).toFixed(1)} kB gzipped`
  );
}

function atMost(what, bytes, budget) {
  console.log(`${what}  ${(bytes / 1000).toFixed(1)} kB gzipped`);
  if (bytes > budget) {
    console.error(
      `${what} must not take more than ${budget / 1000} kB; see what does with --analyze.`
    );
    process.exitCode = 1;
  }
}

const { texts, eager, metafile } = await inPieces(PAGE, [
  inlineWorker,
  withoutServer,
  withoutKernel,
  withoutReact
]);
if (process.argv.includes('--analyze')) {
  console.log(await analyzeMetafile(metafile));
}
atMost(
  'Code of the first picture, without React',
  packed([...eager].map(name => texts.get(name)).join('\n')),
  BUDGET
);
atMost(
  'Code of the one-file page',
  packed(readFileSync(join(out, 'page.js'))),
  PAGE_BUDGET
);
