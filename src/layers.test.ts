/**
 * Checks the order of folders in `src`: imports point to earlier folders, there are no import cycles, and
 * no folder has too many files.
 */

import ts from 'typescript';
import { expect, it } from 'vitest';

/**
 * Lowest first. A file imports from earlier lines and from its own folder; folders on the same line do
 * not import each other. The longest matching path decides.
 */
const ORDER: readonly (readonly string[])[] = [
  ['src/schema'],
  ['src/core/base'],
  ['src/core/types.ts'],
  ['src/core/model'],
  ['src/core/latency'],
  ['src/core/expressions', 'src/core/query'],
  ['src/core/tree'],
  ['src/core/matching', 'src/core/trace'],
  ['src/core/merge'],
  ['src/core/layout/layered'],
  ['src/core/layout/rows'],
  ['src/core/layout/engine'],
  ['src/core/layout/compound'],
  ['src/core/layout/paneZoom.ts'],
  ['src/core/view'],
  ['src/core/index.ts'],
  ['src/providers'],
  ['src/viewer/i18n'],
  ['src/viewer/lazy'],
  ['src/viewer/ui'],
  ['src/viewer/graph/surfaceApi.ts'],
  ['src/viewer/graph/style'],
  ['src/viewer/graph/text'],
  ['src/viewer/graph/geometry'],
  ['src/viewer/graph/scene'],
  ['src/viewer/graph/cards'],
  ['src/viewer/graph/draw'],
  ['src/viewer/graph/labels'],
  ['src/viewer/graph/a11y'],
  ['src/viewer/graph/viewport'],
  ['src/viewer/graph/render/svg', 'src/viewer/graph/render/canvas'],
  ['src/viewer/graph/render'],
  ['src/viewer/graph/input'],
  ['src/viewer/graph/surface.ts'],
  ['src/viewer/overlays'],
  ['src/viewer/state'],
  ['src/viewer/summary'],
  ['src/viewer/session'],
  ['src/viewer/compare'],
  ['src/viewer/export', 'src/viewer/tasks'],
  ['src/viewer/actions'],
  ['src/viewer/features'],
  ['src/viewer/host'],
  ['src/viewer/app'],
  ['src/viewer/index.ts'],
  ['src/embed'],
  ['src/lab', 'src/widget'],
  ['src/page']
];

/** Folders that may have more than `MAX_FILES` sources: one file per action, or per part of a session. */
const FULL_FOLDERS = ['src/viewer/actions', 'src/viewer/session'];
const MAX_FILES = 16;

/** Features do not import each other, except `common` and these. */
const FEATURES = 'src/viewer/features';
const FEATURE_USES: Readonly<Record<string, readonly string[]>> = {
  charts: ['table'],
  devices: ['device'],
  inspector: ['compare', 'device', 'weights'],
  notices: ['compare'],
  roofline: ['devices'],
  totals: ['compare', 'device']
};

interface IImport {
  readonly to: string;
  /** Removed by compilation. */
  readonly isType: boolean;
  /** Loaded on first use. */
  readonly isLazy: boolean;
}

/** Text of every file by path. */
const texts = new Map(
  Object.entries(
    import.meta.glob('./**/*.{ts,tsx}', {
      query: '?raw',
      import: 'default',
      eager: true
    })
  ).map(([path, text]) => [path.replace(/^\./, 'src'), text])
);
const files = [...texts.keys()].filter(path => !path.endsWith('.d.ts'));
const isSource = (path: string): boolean =>
  !/\.test\.|\/testing\/|\/fakeModel/.test(path);
const sources = files.filter(isSource);
const knownFiles = new Set(files);

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

/** The syntax tree of a file. */
const parse = (path: string): ts.SourceFile =>
  ts.createSourceFile(path, texts.get(path)!, ts.ScriptTarget.Latest, true);

function resolve(from: string, specifier: string): string | null {
  const parts = parentOf(from).split('/');
  for (const segment of specifier.split('/')) {
    if (segment === '..') {
      parts.pop();
    } else if (segment !== '.') {
      parts.push(segment);
    }
  }
  const path = parts.join('/');
  const tries = ['', '.ts', '.tsx', '/index.ts'].map(end => path + end);
  return tries.find(path => knownFiles.has(path)) ?? null;
}

function isTypeOnly(node: ts.ImportDeclaration): boolean {
  const clause = node.importClause;
  const named = clause?.namedBindings;
  return (
    clause?.isTypeOnly === true ||
    (clause !== undefined &&
      clause.name === undefined &&
      named !== undefined &&
      ts.isNamedImports(named) &&
      named.elements.every(element => element.isTypeOnly))
  );
}

function importsOf(path: string): IImport[] {
  const imports: IImport[] = [];
  const add = (node: ts.Node | undefined, isType: boolean, isLazy = false) => {
    if (node && ts.isStringLiteral(node)) {
      const to = resolve(path, node.text.replace(/^[\w-]+:/, ''));
      if (to && isSource(to)) {
        imports.push({ to, isType, isLazy });
      }
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      add(node.moduleSpecifier, isTypeOnly(node));
    } else if (ts.isExportDeclaration(node)) {
      add(node.moduleSpecifier, node.isTypeOnly);
    } else if (ts.isImportTypeNode(node)) {
      add((node.argument as ts.LiteralTypeNode).literal, true);
    } else if (
      ts.isCallExpression(node) &&
      node.expression.kind === ts.SyntaxKind.ImportKeyword
    ) {
      add(node.arguments[0], false, true);
    }
    ts.forEachChild(node, visit);
  };
  visit(parse(path));
  return imports;
}

const imports = new Map(sources.map(path => [path, importsOf(path)]));
const folders = ORDER.flat();

/** The entry of `ORDER` that a file belongs to. */
function folderOf(path: string): string {
  return folders
    .filter(folder => path === folder || path.startsWith(`${folder}/`))
    .reduce(
      (best, folder) => (folder.length > best.length ? folder : best),
      ''
    );
}

const lineOf = (folder: string): number =>
  ORDER.findIndex(line => line.includes(folder));

it('every file is in a layer, and every layer has a file', () => {
  expect(sources.filter(path => folderOf(path) === '')).toEqual([]);
  const usedFolders = new Set(sources.map(folderOf));
  expect(folders.filter(folder => !usedFolders.has(folder))).toEqual([]);
});

it('imports point to lower layers', () => {
  const upward = sources.flatMap(path =>
    (imports.get(path) ?? [])
      .filter(({ to }) => folderOf(to) !== folderOf(path))
      .filter(({ to }) => lineOf(folderOf(to)) >= lineOf(folderOf(path)))
      .map(({ to }) => `${path} → ${to}`)
  );
  expect(upward).toEqual([]);
});

/** Groups of files that import each other, directly or indirectly. */
function rings(counts: (edge: IImport) => boolean): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const components: string[][] = [];
  const visit = (path: string): void => {
    order.set(path, order.size);
    low.set(path, order.get(path)!);
    stack.push(path);
    for (const { to } of (imports.get(path) ?? []).filter(counts)) {
      if (!order.has(to)) {
        visit(to);
      }
      if (stack.includes(to)) {
        low.set(path, Math.min(low.get(path)!, low.get(to)!));
      }
    }
    if (low.get(path) === order.get(path)) {
      const ring = stack.splice(stack.indexOf(path));
      if (ring.length > 1) {
        components.push(ring.sort());
      }
    }
  };
  sources.filter(path => !order.has(path)).forEach(visit);
  return components;
}

it('there are no import cycles at run time or between types', () => {
  expect(rings(edge => !edge.isType && !edge.isLazy)).toEqual([]);
  expect(rings(edge => !edge.isLazy)).toEqual([]);
});

it('no folder has too many files', () => {
  const count = new Map<string, number>();
  for (const path of files.filter(file => !file.includes('.test.'))) {
    count.set(parentOf(path), (count.get(parentOf(path)) ?? 0) + 1);
  }
  const full = [...count].filter(([, files]) => files > MAX_FILES);
  expect(full.map(([folder]) => folder).sort()).toEqual(FULL_FOLDERS);
});

it('features import only features in the table above', () => {
  const feature = (path: string): string =>
    path.startsWith(`${FEATURES}/`) ? path.split('/')[3] : '';
  const uses = new Map<string, Set<string>>();
  for (const path of sources) {
    for (const { to } of imports.get(path) ?? []) {
      const [from, other] = [feature(path), feature(to)];
      if (from && other && other !== from && other !== 'common') {
        uses.set(from, (uses.get(from) ?? new Set()).add(other));
      }
    }
  }
  const folderUses = [...uses].map(([name, targets]) => [
    name,
    [...targets].sort()
  ]);
  expect(Object.fromEntries(folderUses)).toEqual(FEATURE_USES);
});

it('exported classes, interfaces and types have unique names', () => {
  const declarations = new Map<string, string[]>();
  for (const path of sources.filter(file => !file.startsWith('src/schema/'))) {
    const declared = /^export (?:abstract )?(?:class|interface|type) (\w+)/gm;
    for (const [, name] of texts.get(path)!.matchAll(declared)) {
      declarations.set(name, [...(declarations.get(name) ?? []), path]);
    }
  }
  expect([...declarations].filter(([, paths]) => paths.length > 1)).toEqual([]);
});

it('private members, and only those, begin with an underscore', () => {
  const misnamed = sources.flatMap(path => {
    const names: string[] = [];
    const visit = (node: ts.Node): void => {
      const name =
        ts.isClassElement(node) || ts.isParameter(node) ? node.name : undefined;
      if (name && ts.isIdentifier(name) && ts.canHaveModifiers(node)) {
        const kinds = (ts.getModifiers(node) ?? []).map(
          modifier => modifier.kind
        );
        const isPrivate = kinds.includes(ts.SyntaxKind.PrivateKeyword);
        const isMember = ts.isClassElement(node) || kinds.length > 0;
        if (isMember && isPrivate !== name.text.startsWith('_')) {
          names.push(`${path} ${name.text}`);
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(parse(path));
    return names;
  });
  expect(misnamed).toEqual([]);
});
