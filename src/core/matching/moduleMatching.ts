/** Pairs by tag: the same operator in the same module, in the same order. */

import type { MatchRule, PairTable, Side } from './nodePairs';
import { joinInOrder, SIDES } from './nodePairs';
import type { IGraphModel } from '../types';

/** Origins of boxes that are not modules: their labels depend on their position. */
const NO_MODULE = new Set(['repeat', 'repeat-part', 'structure', 'plumbing']);
const ROOT = 0;

/** Numbers for paths, shared by both sides: a path is its parent's number and its own label. */
class PathIds {
  private readonly _ids = new Map<string, number>();

  of(parent: number, label: string): number {
    const key = `${parent}/${label}`;
    const id = this._ids.get(key) ?? this._ids.size + 1;
    this._ids.set(key, id);
    return id;
  }
}

/** The only top-level module; -1 if there are several. Its name is ignored: wrappers differ. */
function onlyTop({ payload, nodeScope }: IGraphModel): number {
  const { parent, origin } = payload.scopes;
  const tops = new Set<number>();
  const isUsed = new Uint8Array(parent.length);
  nodeScope.forEach(scope => scope >= 0 && (isUsed[scope] = 1));
  for (let scope = parent.length - 1; scope >= 0; scope--) {
    if (isUsed[scope] && parent[scope] >= 0 && parent[scope] < scope) {
      isUsed[parent[scope]] = 1;
    } else if (isUsed[scope]) {
      tops.add(NO_MODULE.has(origin[scope]) ? -1 : scope);
    }
  }
  return tops.size === 1 ? [...tops][0] : -1;
}

/** Path of every scope; boxes that are not modules use the path of the enclosing module. */
function scopePaths(
  model: IGraphModel,
  paths: PathIds,
  top: number
): Int32Array {
  const { parent, label, origin } = model.payload.scopes;
  const depths = new Int32Array(parent.length);
  // Parents come first; a scope that is out of order hangs under the root, as in the tree.
  for (let scope = 0; scope < parent.length; scope++) {
    const above = parent[scope];
    const around = above >= 0 && above < scope ? depths[above] : ROOT;
    depths[scope] = NO_MODULE.has(origin[scope])
      ? around
      : paths.of(around, scope === top ? '' : label[scope]);
  }
  return depths;
}

/** The number of each node's module path; 0 is the root. */
export function modulePaths(
  models: readonly [IGraphModel, IGraphModel]
): readonly [Int32Array, Int32Array] {
  const paths = new PathIds();
  const tops = models.map(onlyTop);
  const wrapped = tops.every(top => top >= 0);
  const [left, right] = SIDES.map(side => {
    const model = models[side];
    const byScope = scopePaths(model, paths, wrapped ? tops[side] : -1);
    return model.nodeScope.map(scope => (scope >= 0 ? byScope[scope] : ROOT));
  });
  return [left, right];
}

export interface IModuleRule {
  readonly rule: MatchRule;
  /** Join only if both modules have equally many free nodes of the operator. */
  readonly evenly: boolean;
  /** Include nodes outside all modules. */
  readonly root: boolean;
}

/** Joins the remaining nodes of each operator in each module, in order. */
export function joinByModule(
  pairs: PairTable,
  paths: readonly [Int32Array, Int32Array],
  { rule, evenly, root }: IModuleRule
): void {
  const key = (side: Side, node: number): string | null => {
    const path = paths[side][node];
    return path === ROOT && !root
      ? null
      : `${path} ${pairs.operator(side, node)}`;
  };
  joinInOrder(pairs, rule, key, evenly);
}
