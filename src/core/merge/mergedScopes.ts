/** Maps the boxes of the second model in a merged graph: to boxes of the first, or to new ones. */

import type { GraphPayload } from '../../schema';

/** Minimum share of common nodes for two boxes to be merged, which must be most of each. */
const MIN_SHARED = 0.6;

type Scopes = GraphPayload['scopes'];

/** A box and its ancestors, innermost first. Parents have smaller ids, so the walk ends. */
function chain({ parent }: Scopes, scope: number): number[] {
  const scopes: number[] = [];
  for (
    let current = scope;
    current >= 0;
    current = parent[current] < current ? parent[current] : -1
  ) {
    scopes.push(current);
  }
  return scopes;
}

/**
 * Boxes of the second model by those of the first; boxes that only the second has are appended to `into`.
 * `pairs` holds corresponding nodes: (node of the first, node of the second).
 */
export class MergedScopes {
  /** -1 if not yet known, -2 if it gets no box. */
  private readonly _to: Int32Array;
  /** Number of pairs in each box of the second model. */
  private readonly _counts: Int32Array;

  constructor(
    left: GraphPayload,
    private readonly _right: GraphPayload,
    private readonly _into: Scopes,
    pairs: readonly (readonly [number, number])[]
  ) {
    const { scopes } = _right;
    const count = scopes.parent.length;
    const scopeCount = left.scopes.parent.length;
    this._to = new Int32Array(count).fill(-1);
    this._counts = new Int32Array(count);
    const counts = new Int32Array(scopeCount);
    const shared = new Map<number, Map<number, number>>();
    for (const [a, b] of pairs) {
      const around = chain(left.scopes, left.nodes.scope[a]);
      for (const scope of around) {
        counts[scope]++;
      }
      for (const scope of chain(scopes, _right.nodes.scope[b])) {
        this._counts[scope]++;
        const votes = shared.get(scope) ?? new Map<number, number>();
        shared.set(scope, votes);
        for (const other of around) {
          votes.set(other, (votes.get(other) ?? 0) + 1);
        }
      }
    }
    const used = new Set<number>();
    for (let scope = 0; scope < count; scope++) {
      const best = this._best(
        left.scopes,
        scope,
        shared.get(scope),
        counts,
        used
      );
      if (best >= 0) {
        used.add(best);
        this._to[scope] = best;
      }
    }
  }

  /** The box of a scope of the second model; -1 if there is none. */
  of(scope: number): number {
    for (const ancestor of chain(this._right.scopes, scope).reverse()) {
      if (this._to[ancestor] === -1 && this._counts[ancestor] === 0) {
        this._to[ancestor] = this._add(ancestor);
      }
    }
    return this._known(scope);
  }

  /** The innermost known box around a scope. */
  private _known(scope: number): number {
    const shared = chain(this._right.scopes, scope).find(
      ancestor => this._to[ancestor] >= 0
    );
    return shared === undefined ? -1 : this._to[shared];
  }

  private _add(scope: number): number {
    const { scopes } = this._right;
    const into = this._into;
    into.parent.push(this._known(scopes.parent[scope]));
    into.label.push(scopes.label[scope]);
    into.type.push(scopes.type[scope]);
    into.role?.push(scopes.role?.[scope] ?? '');
    into.origin.push(scopes.origin[scope]);
    return into.parent.length - 1;
  }

  /** The box of the first model that shares most nodes with this one, within its parent's box. */
  private _best(
    left: Scopes,
    scope: number,
    votes: ReadonlyMap<number, number> | undefined,
    counts: Int32Array,
    used: ReadonlySet<number>
  ): number {
    const { scopes } = this._right;
    const above = this._known(scopes.parent[scope]);
    let best = -1;
    let maximum = 0;
    for (const [other, count] of votes ?? []) {
      const sizes = [counts[other], this._counts[scope]];
      const share = (2 * count) / (sizes[0] + sizes[1]);
      // A repeat of two is not one of its parts.
      const isMost = 2 * count > Math.max(...sizes);
      const inside = above < 0 || chain(left, other).includes(above, 1);
      // Among boxes with the same nodes, prefers the same name, else the outermost.
      const named = left.label[other] === scopes.label[scope] ? 0.01 : 0;
      const score = share + named - other * 1e-9;
      if (
        share >= MIN_SHARED &&
        isMost &&
        inside &&
        !used.has(other) &&
        score > maximum
      ) {
        best = other;
        maximum = score;
      }
    }
    return best;
  }
}
