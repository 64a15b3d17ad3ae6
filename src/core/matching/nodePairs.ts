/** Pairs of nodes of two models, and two ways to find them: by unique key and by order. */

import { OperatorForms } from './operatorForms';
import { TENSOR_KIND } from '../model/decodePayload';
import type { IGraphModel } from '../types';

/** Number of inputs that are compared one by one; a file may give a node any number. */
export const FIRST_INPUTS = 16;

/** The shapes of the weights among a node's first inputs; empty without weights. */
export function weightShapes(model: IGraphModel, node: number): string {
  const shapes: string[] = [];
  const from = model.inputOffsets[node];
  const end = Math.min(model.inputOffsets[node + 1], from + FIRST_INPUTS);
  for (let k = from; k < end; k++) {
    const tensor = model.inputs[k];
    if (tensor >= 0 && model.tensorKind[tensor] === TENSOR_KIND.initializer) {
      shapes.push(model.shapeText(tensor));
    }
  }
  return shapes.join(' ');
}

/** How a counterpart was found, most reliable first; `position` is a guess. */
export const MATCH_RULES = [
  'none',
  'structure',
  'name',
  'tensor',
  'weight',
  'module',
  'wiring',
  'position'
] as const;
export type MatchRule = (typeof MATCH_RULES)[number];

/** 0 is the first of the two models, 1 the second. */
export type Side = 0 | 1;
export const SIDES: readonly Side[] = [0, 1];

export function otherSide(side: Side): Side {
  return side === 0 ? 1 : 0;
}

type Both<T> = readonly [T, T];
type Key = string | number;
export type KeyOf = (side: Side, node: number) => Key | null;

/** A matching under construction. Constant nodes are not drawn and take no part. */
export class PairTable {
  /** Counterpart of each node by side; -1 if there is none. */
  readonly to: Both<Int32Array>;
  /** Index into `MATCH_RULES` by side and node. */
  readonly rules: Both<Uint8Array>;

  /** What the nodes of each side compute. */
  readonly operators: Both<OperatorForms>;

  constructor(readonly models: Both<IGraphModel>) {
    const [left, right] = models;
    this.operators = [new OperatorForms(left), new OperatorForms(right)];
    this.to = [
      new Int32Array(left.nodeCount).fill(-1),
      new Int32Array(right.nodeCount).fill(-1)
    ];
    this.rules = [
      new Uint8Array(left.nodeCount),
      new Uint8Array(right.nodeCount)
    ];
  }

  isDrawn(side: Side, node: number): boolean {
    return this.models[side].nodeConstant[node] === 0;
  }

  isFree(side: Side, node: number): boolean {
    return this.to[side][node] < 0 && this.isDrawn(side, node);
  }

  /** Joins two free nodes; returns false if one of them is taken. */
  join(left: number, right: number, rule: MatchRule): boolean {
    if (!this.isFree(0, left) || !this.isFree(1, right)) {
      return false;
    }
    const index = MATCH_RULES.indexOf(rule);
    this.to[0][left] = right;
    this.to[1][right] = left;
    this.rules[0][left] = index;
    this.rules[1][right] = index;
    return true;
  }

  /** Sets the counterpart of one node, even if it is taken: one node may correspond to several. */
  assign(side: Side, node: number, other: number): void {
    this.to[side][node] = other;
    this.rules[side][node] = MATCH_RULES.indexOf('structure');
  }

  /** What the node computes: a product and its quantized form give the same. */
  operator(side: Side, node: number): string {
    return this.operators[side].of(node);
  }

  /**
   * True if two nodes with the same operation have weights of the same shapes, or if these cannot be
   * compared.
   */
  sameWeights(left: number, right: number): boolean {
    const [a, b] = this.operators;
    return (
      a.type(left) !== b.type(right) ||
      weightShapes(this.models[0], left) === weightShapes(this.models[1], right)
    );
  }
}

const AMBIGUOUS = -2;

/** Pairs whose key is unique on each side, counting joined nodes too. Linear time. */
export function uniquePairs(
  pairs: PairTable,
  key: KeyOf
): { readonly left: number; readonly right: number }[] {
  const index = (side: Side): Map<Key, number> => {
    const unique = new Map<Key, number>();
    const { nodeCount } = pairs.models[side];
    for (let node = 0; node < nodeCount; node++) {
      const nodeKey = pairs.isDrawn(side, node) ? key(side, node) : null;
      if (nodeKey !== null) {
        unique.set(nodeKey, unique.has(nodeKey) ? AMBIGUOUS : node);
      }
    }
    return unique;
  };
  const right = index(1);
  const matches: { left: number; right: number }[] = [];
  for (const [nodeKey, node] of index(0)) {
    const other = right.get(nodeKey) ?? -1;
    if (node >= 0 && other >= 0) {
      matches.push({ left: node, right: other });
    }
  }
  return matches;
}

/**
 * Joins the free nodes of each key in order. With `evenly`, only if both sides have equally many. Linear
 * time.
 */
export function joinInOrder(
  pairs: PairTable,
  rule: MatchRule,
  key: KeyOf,
  evenly: boolean
): void {
  const rows = new Map<Key, [number[], number[]]>();
  for (const side of SIDES) {
    for (let node = 0; node < pairs.models[side].nodeCount; node++) {
      const nodeKey = pairs.isFree(side, node) ? key(side, node) : null;
      if (nodeKey === null) {
        continue;
      }
      const row = rows.get(nodeKey) ?? [[], []];
      row[side].push(node);
      rows.set(nodeKey, row);
    }
  }
  for (const [left, right] of rows.values()) {
    if (!evenly || left.length === right.length) {
      const count = Math.min(left.length, right.length);
      for (let i = 0; i < count; i++) {
        pairs.join(left[i], right[i], rule);
      }
    }
  }
}
