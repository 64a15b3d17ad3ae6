/**
 * A matching read from an alignment that was computed elsewhere: pairs of several nodes per side, and
 * their changes.
 */

import { PairTable, SIDES, otherSide, type Side } from './nodePairs';
import type { IGroupTree } from '../tree/treeTypes';

/** The columns that are read here; ids are those of the payloads. */
export interface IAlignmentColumns {
  /** Pair of each node: -1 without a counterpart, -2 if it takes no part. */
  readonly left: readonly number[];
  readonly right: readonly number[];
  /** By pair: a bit mask of `kinds`. */
  readonly changes: readonly number[];
  readonly kinds: readonly string[];
  /** By pair: the node that computes the result. */
  readonly main_left: readonly number[];
  readonly main_right: readonly number[];
}

/** State of a node or group relative to the other model. */
export const CHANGE_STATES = [
  'none',
  'same',
  'precision',
  'fused',
  'changed',
  'only'
] as const;
export type ChangeState = (typeof CHANGE_STATES)[number];

const [NONE, SAME, PRECISION, FUSED, CHANGED, ONLY] = CHANGE_STATES.map(
  (_, index) => index
);

export interface IChanges {
  /** State of a node or group. */
  state(side: Side, entity: number): ChangeState;
  /** All kinds of changes in a node or group. */
  kinds(side: Side, entity: number): readonly string[];
  /** Pair of a node; -1 without one. */
  pair(side: Side, node: number): number;
  /** Nodes that differ, one per pair, in graph order. */
  readonly differing: readonly [readonly number[], readonly number[]];
  /** All nodes of changed pairs, and those without a counterpart. */
  nodes(side: Side): Uint8Array;
}

/** True if the columns belong to these two models. */
export function isOfModels(
  { left, right }: IAlignmentColumns,
  trees: readonly [IGroupTree, IGroupTree]
): boolean {
  return (
    left.length === trees[0].model.nodeCount &&
    right.length === trees[1].model.nodeCount
  );
}

/** The nodes of each pair, in graph order. */
function members(
  pairOf: readonly number[],
  count: number
): readonly (readonly number[])[] {
  const changes: number[][] = Array.from({ length: count }, () => []);
  pairOf.forEach((pair, node) => changes[pair]?.push(node));
  return changes;
}

/**
 * Joins each node with one of its pair on the other side: the one with the same operator at the same
 * position, else the one that computes.
 */
export function joinByAlignment(
  pairs: PairTable,
  alignment: IAlignmentColumns
): void {
  const columns = [alignment.left, alignment.right] as const;
  const mains = [alignment.main_left, alignment.main_right] as const;
  const count = alignment.changes.length;
  const inside = SIDES.map(side => members(columns[side], count));
  for (const side of SIDES) {
    const opposite = otherSide(side);
    for (let pair = 0; pair < count; pair++) {
      const offered = new Map<string, number[]>();
      for (const other of inside[opposite][pair]) {
        const type = pairs.operators[opposite].type(other);
        offered.set(type, [...(offered.get(type) ?? []), other]);
      }
      for (const node of inside[side][pair]) {
        const main = node === mains[side][pair];
        const sameType = offered.get(pairs.operators[side].type(node));
        const other = main
          ? mains[opposite][pair]
          : (sameType?.shift() ?? mains[opposite][pair]);
        if (other >= 0 && pairs.isDrawn(side, node)) {
          pairs.assign(side, node, other);
        }
      }
    }
  }
}

/** Changes by node and by group. Takes linear time. */
export class Changes implements IChanges {
  readonly differing: readonly [readonly number[], readonly number[]];
  private readonly _states: readonly [Uint8Array, Uint8Array];
  private readonly _bits: readonly [Uint32Array, Uint32Array];

  constructor(
    private readonly _given: IAlignmentColumns,
    private readonly _trees: readonly [IGroupTree, IGroupTree]
  ) {
    const precision = bitsOf(_given, ['precision']);
    const fused = bitsOf(_given, ['precision', 'fused', 'moves']);
    const state = (bits: number): number =>
      bits === 0
        ? SAME
        : (bits & ~precision) === 0
          ? PRECISION
          : (bits & ~fused) === 0
            ? FUSED
            : CHANGED;
    const results = SIDES.map(side => this._ofSide(side, state));
    this._states = [results[0].states, results[1].states];
    this._bits = [results[0].bits, results[1].bits];
    const differing = SIDES.map(side => this._differing(side));
    this.differing = [differing[0], differing[1]];
  }

  state(side: Side, entity: number): ChangeState {
    return CHANGE_STATES[this._states[side][entity] ?? NONE];
  }

  kinds(side: Side, entity: number): readonly string[] {
    const bits = this._bits[side][entity] ?? 0;
    return this._given.kinds.filter((_, bit) => (bits >> bit) & 1);
  }

  pair(side: Side, node: number): number {
    return this._column(side)[node] ?? -1;
  }

  nodes(side: Side): Uint8Array {
    const { nodeCount } = this._trees[side].model;
    return this._states[side]
      .subarray(0, nodeCount)
      .map(state => (state > SAME ? 1 : 0));
  }

  private _column(side: Side): readonly number[] {
    return side === 0 ? this._given.left : this._given.right;
  }

  private _differing(side: Side): number[] {
    const { main_left, main_right } = this._given;
    const main = side === 0 ? main_left : main_right;
    const column = this._column(side);
    return [...this._trees[side].nodeOrder].filter(node => {
      const pair = column[node];
      return (
        this._states[side][node] > SAME && (pair < 0 || main[pair] === node)
      );
    });
  }

  private _ofSide(
    side: Side,
    state: (bits: number) => number
  ): { states: Uint8Array; bits: Uint32Array } {
    const tree = this._trees[side];
    const { nodeCount } = tree.model;
    const states = new Uint8Array(nodeCount + tree.groupCount);
    const bits = new Uint32Array(nodeCount + tree.groupCount);
    const column = this._column(side);
    for (let node = 0; node < nodeCount; node++) {
      const pair = column[node];
      bits[node] = pair >= 0 ? this._given.changes[pair] : 0;
      states[node] = pair >= 0 ? state(bits[node]) : pair === -1 ? ONLY : NONE;
    }
    // A group comes after its parent, so inner groups are added first.
    for (const node of tree.nodeOrder) {
      const group = tree.nodeParent[node];
      if (group >= 0) {
        add(nodeCount + group, node);
      }
    }
    for (let group = tree.groupCount - 1; group >= 0; group--) {
      const parent = tree.groupParent[group];
      if (parent >= 0) {
        add(nodeCount + parent, nodeCount + group);
      }
    }
    return { states, bits };

    function add(to: number, from: number): void {
      bits[to] |= bits[from];
      const [a, b] = [states[to], states[from]];
      states[to] =
        a === NONE || a === b
          ? b
          : b === NONE
            ? a
            : a === ONLY || b === ONLY
              ? CHANGED
              : Math.max(a, b);
    }
  }
}

function bitsOf(
  { kinds }: IAlignmentColumns,
  names: readonly string[]
): number {
  return names.reduce((bits, name) => {
    const index = kinds.indexOf(name);
    return index < 0 ? bits : bits | (1 << index);
  }, 0);
}
