/**
 * Matches the nodes of two models, so that their views can be compared. Alignments computed in Python are
 * used as they are (`matchGiven`); the matchers are for views without a server or kernel, and for
 * matching by names or modules on request.
 */

import {
  Changes,
  isOfModels,
  joinByAlignment,
  type IAlignmentColumns,
  type IChanges
} from './alignmentChanges';
import { matchGroups } from './groupMatching';
import type { MatchMode } from './matchModes';
import { joinByModule, modulePaths } from './moduleMatching';
import { joinByExactNames, joinByTrustedNames } from './nameMatching';
import type { MatchRule, Side } from './nodePairs';
import { MATCH_RULES, otherSide, PairTable } from './nodePairs';
import { WirePropagation } from './wirePropagation';
import type { IGroupTree } from '../tree/treeTypes';

export { MATCH_RULES, otherSide, SIDES } from './nodePairs';
export type { MatchRule, Side } from './nodePairs';
export { isMatchMode, MATCH_MODES } from './matchModes';
export { CHANGE_STATES } from './alignmentChanges';
export type {
  ChangeState,
  IAlignmentColumns,
  IChanges
} from './alignmentChanges';
export type { MatchMode } from './matchModes';

export interface IMatchCounts {
  readonly matched: number;
  /** Pairs that are guessed from order only. */
  readonly guessed: number;
  /** By side: drawn nodes, and those of them without a counterpart. */
  readonly nodes: readonly [number, number];
  readonly only: readonly [number, number];
}

/** Entities are those of `core/types.ts`; -1 means no counterpart. */
export interface IMatching {
  readonly counts: IMatchCounts;
  /** The corresponding node or group of the other side. */
  counterpart(side: Side, entity: number): number;
  tensor(side: Side, tensor: number): number;
  /** How the node's counterpart was found. */
  rule(side: Side, node: number): MatchRule;
  /** Nodes without a counterpart, in graph order. */
  only(side: Side): number[];
  /** Differences between counterparts; null if only names and wires were compared. */
  readonly changes: IChanges | null;
}

export type GraphMatcher = (left: IGroupTree, right: IGroupTree) => IMatching;

class Matching implements IMatching {
  readonly counts: IMatchCounts;
  private readonly _groups: readonly [Int32Array, Int32Array];

  constructor(
    private readonly _pairs: PairTable,
    private readonly _trees: readonly [IGroupTree, IGroupTree],
    readonly changes: IChanges | null = null
  ) {
    this._groups = matchGroups(_pairs, _trees);
    const positionRule = MATCH_RULES.indexOf('position');
    let matched = 0;
    let guessed = 0;
    _pairs.to[0].forEach((other, node) => {
      matched += other >= 0 ? 1 : 0;
      guessed += _pairs.rules[0][node] === positionRule ? 1 : 0;
    });
    const [left, right] = _trees.map(tree => tree.nodeOrder.length);
    this.counts = {
      matched,
      guessed,
      nodes: [left, right],
      only: [this.only(0).length, this.only(1).length]
    };
  }

  counterpart(side: Side, entity: number): number {
    const { nodeCount } = this._pairs.models[side];
    if (entity < nodeCount) {
      return this._pairs.to[side][entity] ?? -1;
    }
    const group = this._groups[side][entity - nodeCount] ?? -1;
    return group < 0
      ? -1
      : this._pairs.models[otherSide(side)].nodeCount + group;
  }

  /** The same output of the producer's counterpart; tensors without a producer match by name. */
  tensor(side: Side, tensor: number): number {
    const model = this._pairs.models[side];
    const otherModel = this._pairs.models[otherSide(side)];
    const producer = model.tensorProducer[tensor];
    if (producer < 0) {
      const name = model.tensorName(tensor);
      const match = otherModel.payload.tensors.name.indexOf(name);
      return match >= 0 && otherModel.tensorProducer[match] < 0 ? match : -1;
    }
    const other = this._pairs.to[side][producer];
    const from = model.outputOffsets[producer];
    const slot = model.outputs.indexOf(tensor, from) - from;
    return other >= 0 &&
      slot <
        otherModel.outputOffsets[other + 1] - otherModel.outputOffsets[other]
      ? otherModel.outputs[otherModel.outputOffsets[other] + slot]
      : -1;
  }

  rule(side: Side, node: number): MatchRule {
    return MATCH_RULES[this._pairs.rules[side][node] ?? 0];
  }

  only(side: Side): number[] {
    const { changes } = this;
    return [...this._trees[side].nodeOrder].filter(node =>
      changes
        ? changes.state(side, node) === 'only'
        : this._pairs.isFree(side, node)
    );
  }
}

/** The matching of a structural alignment; null if it belongs to other models. */
export function matchGiven(
  left: IGroupTree,
  right: IGroupTree,
  columns: IAlignmentColumns
): IMatching | null {
  const trees = [left, right] as const;
  if (!isOfModels(columns, trees)) {
    return null;
  }
  const pairs = new PairTable([left.model, right.model]);
  joinByAlignment(pairs, columns);
  return new Matching(pairs, trees, new Changes(columns, trees));
}

/** Creates a matcher from the function that joins the pairs. */
function makeMatcher(joinAll: (pairs: PairTable) => void): GraphMatcher {
  return (left, right) => {
    const pairs = new PairTable([left.model, right.model]);
    joinAll(pairs);
    return new Matching(pairs, [left, right]);
  };
}

/** Each is linear in nodes and wires. */
export const MATCHERS: Readonly<Record<MatchMode, GraphMatcher>> = {
  auto: makeMatcher(pairs => {
    const paths = modulePaths(pairs.models);
    joinByTrustedNames(pairs, paths);
    joinByModule(pairs, paths, { rule: 'module', evenly: true, root: false });
    new WirePropagation(pairs).propagate();
    joinByModule(pairs, paths, { rule: 'position', evenly: false, root: true });
  }),
  name: makeMatcher(joinByExactNames),
  tag: makeMatcher(pairs => {
    const paths = modulePaths(pairs.models);
    joinByModule(pairs, paths, { rule: 'module', evenly: true, root: true });
    joinByModule(pairs, paths, { rule: 'position', evenly: false, root: true });
  })
};
