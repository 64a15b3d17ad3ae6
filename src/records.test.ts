/**
 * A record is not indexed by a text that comes from a model, a payload or a user: `constructor` and `__proto__`
 * would find what every object inherits. `ownValue` or a Map does that. Numbers as text are not such names.
 */

import ts from 'typescript';
import { expect, it } from 'vitest';

const HELPER = 'src/core/base/ownValue.ts';
const IGNORED = /\.test\.tsx?$|\.d\.ts$|\/testing\/|\/fakeModel\.ts$/;
const IMPLICIT = ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral;

/** Sites that index by text, as `file:line code`. */
function indexedByText(
  program: ts.Program,
  pathOf: (file: ts.SourceFile) => string
): string[] {
  const checker = program.getTypeChecker();
  const isText = (node: ts.Expression): boolean => {
    const type = checker.getTypeAtLocation(node);
    const kinds = type.isUnion() ? type.types : [type];
    return kinds.some(
      ({ flags }) => (flags & (IMPLICIT | ts.TypeFlags.Any)) > 0
    );
  };
  /** `String(node)` of a number. */
  const isNumber = (node: ts.Expression): boolean =>
    ts.isCallExpression(node) &&
    node.expression.getText() === 'String' &&
    node.arguments.every(
      argument =>
        (checker.getTypeAtLocation(argument).flags & ts.TypeFlags.NumberLike) >
        0
    );
  const found: string[] = [];
  for (const file of program.getSourceFiles()) {
    const path = pathOf(file);
    if (!path.startsWith('src/') || path === HELPER || IGNORED.test(path)) {
      continue;
    }
    const visit = (node: ts.Node): void => {
      const isIndexed =
        ts.isElementAccessExpression(node) &&
        isText(node.argumentExpression) &&
        !isNumber(node.argumentExpression);
      const isIn =
        ts.isBinaryExpression(node) &&
        node.operatorToken.kind === ts.SyntaxKind.InKeyword &&
        isText(node.left) &&
        !ts.isStringLiteral(node.left);
      if (isIndexed || isIn) {
        const { line } = file.getLineAndCharacterOfPosition(node.getStart());
        found.push(`${path}:${line + 1} ${node.getText()}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return found;
}

function projectProgram(): ts.Program {
  const host: ts.ParseConfigFileHost = {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: () => undefined
  };
  const config = ts.getParsedCommandLineOfConfigFile('tsconfig.json', {}, host);
  return ts.createProgram(config!.fileNames, {
    ...config!.options,
    noEmit: true
  });
}

it('no record is indexed by text', () => {
  const root = `${ts.sys.getCurrentDirectory()}/`;
  expect(
    indexedByText(projectProgram(), ({ fileName }) =>
      fileName.replace(root, '')
    )
  ).toEqual([]);
}, 600_000);

it('sees such an index', () => {
  const text = `
    declare const r: Record<string, number>, name: string, i: number;
    export const bad = [r[name], name in r, r[\`\${name}x\`], { a: 1 }[name]];
    export const good = [r['a'], r[String(i)], [1][i], 'a' in r];
  `;
  const host = ts.createCompilerHost({});
  const { getSourceFile } = host;
  host.getSourceFile = (name, version) =>
    name === 'src/x.ts'
      ? ts.createSourceFile(name, text, version, true)
      : getSourceFile.call(host, name, version);
  const program = ts.createProgram(['src/x.ts'], { noLib: false }, host);
  expect(
    indexedByText(program, ({ fileName }) => fileName).map(site =>
      site.slice('src/x.ts:3 '.length)
    )
  ).toEqual(['r[name]', 'name in r', 'r[`${name}x`]', '{ a: 1 }[name]']);
}, 600_000);
