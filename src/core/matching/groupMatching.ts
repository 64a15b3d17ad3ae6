/** Pairs of groups: by path if their members do not contradict it, else by their members. */

import { otherSide, SIDES, type PairTable, type Side } from './nodePairs';
import type { IGroupTree } from '../tree/treeTypes';

type Trees = readonly [IGroupTree, IGroupTree];

/** Maximum number of members of a group that are checked, evenly spread. */
const MAX_SAMPLED_MEMBERS = 64;
/** Maximum number of levels to climb in search of the group around the counterparts. */
const MAX_LEVELS = 64;
/** Share of the counterparts that must lie in the other group. */
const MIN_SHARED = 0.6;

/** `BertLayer` of `BertLayer ×12`: a repeat with another number of instances is still the same repeat. */
function labelWithoutCount(label: string): string {
  const position = label.lastIndexOf(' ×');
  return position < 0 ? label : label.slice(0, position);
}

/** Pairs of groups whose path occurs exactly once on each side. */
function pathPairs(trees: Trees): [number, number][] {
  const ids = new Map<string, number>();
  const holders: [Map<number, number>, Map<number, number>] = [
    new Map(),
    new Map()
  ];
  for (const side of SIDES) {
    const { groupCount, groupParent, groupLabel, groupIsRepeat } = trees[side];
    const parents = new Int32Array(groupCount);
    for (let group = 0; group < groupCount; group++) {
      const parent = groupParent[group];
      const label = groupLabel[group];
      const labelKey = groupIsRepeat[group]
        ? `×${labelWithoutCount(label)}`
        : `=${label}`;
      const key = `${parent < 0 ? 0 : parents[parent]}${labelKey}`;
      parents[group] = ids.get(key) ?? ids.size + 1;
      ids.set(key, parents[group]);
      const holder = holders[side];
      holder.set(parents[group], holder.has(parents[group]) ? -2 : group);
    }
  }
  const pairs: [number, number][] = [];
  for (const [path, left] of holders[0]) {
    const right = holders[1].get(path) ?? -1;
    if (left >= 0 && right >= 0) {
      pairs.push([left, right]);
    }
  }
  return pairs;
}

/**
 * Positions, in the other tree's order, of the counterparts of a sample of a group's members; ascending.
 */
function sampleCounterparts(
  pairs: PairTable,
  trees: Trees,
  side: Side,
  group: number
): number[] {
  const { groupStart, groupEnd, nodeOrder } = trees[side];
  const { nodePosition } = trees[otherSide(side)];
  const count = groupEnd[group] - groupStart[group];
  const sampled = Math.min(MAX_SAMPLED_MEMBERS, count);
  const positions: number[] = [];
  for (let i = 0; i < sampled; i++) {
    const position = groupStart[group] + Math.floor((i * count) / sampled);
    const other = pairs.to[side][nodeOrder[position]];
    if (other >= 0 && nodePosition[other] >= 0) {
      positions.push(nodePosition[other]);
    }
  }
  return positions.sort((a, b) => a - b);
}

function inside(
  tree: IGroupTree,
  group: number,
  positions: readonly number[]
): boolean {
  const inside = positions.filter(
    position =>
      position >= tree.groupStart[group] && position < tree.groupEnd[group]
  );
  return inside.length >= MIN_SHARED * positions.length;
}

/** The smallest group around most of these positions; -1 if there is none. */
function groupAround(tree: IGroupTree, positions: readonly number[]): number {
  if (positions.length === 0) {
    return -1;
  }
  const middle = tree.nodeOrder[positions[positions.length >> 1]];
  let group = tree.nodeParent[middle];
  for (let level = 0; group >= 0 && level < MAX_LEVELS; level++) {
    if (inside(tree, group, positions)) {
      return group;
    }
    group = tree.groupParent[group];
  }
  return -1;
}

/** Counterpart of each group by side; -1 if there is none. Linear time, for a fixed sample. */
export function matchGroups(
  pairs: PairTable,
  trees: Trees
): readonly [Int32Array, Int32Array] {
  const [left, right] = trees;
  const to: [Int32Array, Int32Array] = [
    new Int32Array(left.groupCount).fill(-1),
    new Int32Array(right.groupCount).fill(-1)
  ];
  const join = (a: number, b: number): void => {
    if (to[0][a] < 0 && to[1][b] < 0) {
      to[0][a] = b;
      to[1][b] = a;
    }
  };
  /** True if most matched members of each group are matched into the other. */
  const agree = (a: number, b: number): boolean =>
    inside(right, b, sampleCounterparts(pairs, trees, 0, a)) &&
    inside(left, a, sampleCounterparts(pairs, trees, 1, b));
  for (const [a, b] of pathPairs(trees)) {
    if (agree(a, b)) {
      join(a, b);
    }
  }
  for (let a = 0; a < left.groupCount; a++) {
    if (to[0][a] < 0) {
      const b = groupAround(right, sampleCounterparts(pairs, trees, 0, a));
      if (b >= 0 && agree(a, b)) {
        join(a, b);
      }
    }
  }
  return to;
}
