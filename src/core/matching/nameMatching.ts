/**
 * Pairs by name: names of nodes, of the tensors they produce, and of weights that only they read.
 *
 * Exporters number unnamed nodes (`Conv_17`, `node_relu_3`, `val_509`). After a removed layer, the same
 * numbers name other nodes, so numbered names count only if they agree with other evidence.
 */

import { TENSOR_KIND } from '../model/decodePayload';
import type { MatchRule, PairTable, Side } from './nodePairs';
import { FIRST_INPUTS, SIDES, uniquePairs, weightShapes } from './nodePairs';
import { sourceName } from './operatorForms';

type NameOf = (side: Side, node: number) => string;

/** Share of the evidence that must agree with numbered names. */
const MIN_EVIDENCE_SHARE = 0.9;

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** `Conv` of `Conv_17`; null if the name does not end in a number. A path is never numbered. */
export function numberedFamily(name: string): string | null {
  let end = name.length;
  while (end > 0 && isDigit(name.charCodeAt(end - 1))) {
    end--;
  }
  if (end === name.length || name.includes('/')) {
    return null;
  }
  return name.slice(0, end > 0 && name[end - 1] === '_' ? end - 1 : end);
}

/** Distinguishes numbered names from given ones: `relu` is numbered if there is a `relu_1`. */
class NumberedNames {
  private readonly _families = new Set<string>();

  constructor(pairs: PairTable, nameOf: NameOf) {
    for (const side of SIDES) {
      for (let node = 0; node < pairs.models[side].nodeCount; node++) {
        const family = numberedFamily(nameOf(side, node));
        if (family !== null) {
          this._families.add(family);
        }
      }
    }
  }

  isNumbered(name: string): boolean {
    return numberedFamily(name) !== null || this._families.has(name);
  }
}

type NameMatches = readonly { readonly left: number; readonly right: number }[];
type NamePaths = readonly [Int32Array, Int32Array];

/** Whether the producers of their inputs are counterparts; null if none has a counterpart. */
function sameProducers(
  pairs: PairTable,
  left: number,
  right: number
): boolean | null {
  const [a, b] = pairs.models;
  const from = a.inputOffsets[left];
  const start = b.inputOffsets[right];
  const reads = Math.min(
    a.inputOffsets[left + 1] - from,
    b.inputOffsets[right + 1] - start,
    FIRST_INPUTS
  );
  for (let k = 0; k < reads; k++) {
    const [x, y] = [a.inputs[from + k], b.inputs[start + k]];
    const producers = [
      x < 0 ? -1 : a.tensorProducer[pairs.operators[0].computed(x)],
      y < 0 ? -1 : b.tensorProducer[pairs.operators[1].computed(y)]
    ];
    const counterparts = [
      producers[0] < 0 ? -1 : pairs.to[0][producers[0]],
      producers[1] < 0 ? -1 : pairs.to[1][producers[1]]
    ];
    if (counterparts[0] >= 0 && counterparts[0] === producers[1]) {
      return true;
    }
    // A producer without a counterpart proves nothing: a fused operator may follow a Reshape, for
    // example.
    if (
      producers.every(
        (producer, index) => producer < 0 || counterparts[index] >= 0
      )
    ) {
      if (counterparts[0] >= 0 || counterparts[1] >= 0) {
        return false;
      }
    }
  }
  return null;
}

/** Other evidence on two nodes of the same name: true if they match, null if there is none. */
function evidence(
  pairs: PairTable,
  paths: NamePaths,
  left: number,
  right: number
): boolean | null {
  if (pairs.to[0][left] >= 0 || pairs.to[1][right] >= 0) {
    return pairs.to[0][left] === right;
  }
  const modules = [paths[0][left], paths[1][right]];
  const [a, b] = pairs.operators;
  if (
    pairs.operator(0, left) !== pairs.operator(1, right) ||
    !pairs.sameWeights(left, right) ||
    (modules[0] !== modules[1] &&
      modules.every(path => path > 0) &&
      // A tool that replaces an operator may lose its position and derive a new one from its name.
      a.type(left) === b.type(right))
  ) {
    return false;
  }
  const inModule = modules[0] > 0 && modules[1] > 0;
  return (
    sameProducers(pairs, left, right) ??
    (inModule || weightShapes(pairs.models[0], left) !== '' ? true : null)
  );
}

/**
 * The pairs whose numbers can be trusted: per family if its evidence agrees, or, without any, as for all
 * families together.
 */
function trustPairs(
  pairs: PairTable,
  paths: NamePaths,
  matches: NameMatches,
  nameOf: NameOf
): NameMatches {
  const votes = new Map<string, { good: number; total: number }>();
  const totals = { good: 0, total: 0 };
  const familyOf = (node: number): string => {
    const name = nameOf(0, node);
    return numberedFamily(name) ?? name;
  };
  for (const { left, right } of matches) {
    const vote = evidence(pairs, paths, left, right);
    if (vote !== null) {
      const family = familyOf(left);
      const familyVotes = votes.get(family) ?? { good: 0, total: 0 };
      votes.set(family, familyVotes);
      for (const tally of [familyVotes, totals]) {
        tally.good += vote ? 1 : 0;
        tally.total++;
      }
    }
  }
  return matches.filter(({ left }) => {
    const { good, total } = votes.get(familyOf(left)) ?? totals;
    return good >= MIN_EVIDENCE_SHARE * total;
  });
}

interface INames {
  readonly rule: MatchRule;
  readonly nameOf: NameOf;
  /**
   * True if the nodes must have the same operator: nodes of the same name may differ, producers of the
   * same tensor may not.
   */
  readonly sameOperator: boolean;
}

function join(
  pairs: PairTable,
  { rule, sameOperator }: INames,
  matches: NameMatches
): void {
  const [a, b] = pairs.models;
  for (const { left, right } of matches) {
    if (
      !sameOperator ||
      a.category(left) === b.category(right) ||
      pairs.operator(0, left) === pairs.operator(1, right)
    ) {
      pairs.join(left, right, rule);
    }
  }
}

const nodeNames = (pairs: PairTable): INames => ({
  rule: 'name',
  nameOf: (side, node) => pairs.models[side].nodeName(node),
  sameOperator: false
});

/** Name of a node's first output. */
const tensorNames = (pairs: PairTable): INames => ({
  rule: 'tensor',
  nameOf: (side, node) => {
    const model = pairs.models[side];
    const first = model.outputOffsets[node];
    const tensor =
      first < model.outputOffsets[node + 1] ? model.outputs[first] : -1;
    return tensor < 0 ? '' : model.tensorName(tensor);
  },
  sameOperator: true
});

/** Name of the first weight that no other node reads. */
const weightNames = (pairs: PairTable): INames => ({
  rule: 'weight',
  nameOf: (side, node) => {
    const model = pairs.models[side];
    const from = model.inputOffsets[node];
    const end = Math.min(model.inputOffsets[node + 1], from + FIRST_INPUTS);
    for (let k = from; k < end; k++) {
      const tensor = model.inputs[k];
      const isOwn =
        tensor >= 0 &&
        model.tensorKind[tensor] === TENSOR_KIND.initializer &&
        model.consumerOffsets[tensor + 1] - model.consumerOffsets[tensor] === 1;
      if (isOwn) {
        return model.tensorName(tensor);
      }
    }
    return '';
  },
  sameOperator: true
});

/** All exact names: nodes first, then the tensors they produce. */
export function joinByExactNames(pairs: PairTable): void {
  for (const names of [nodeNames(pairs), tensorNames(pairs)]) {
    const pair = uniquePairs(
      pairs,
      (side, node) => names.nameOf(side, node) || null
    );
    join(pairs, names, pair);
  }
}

/**
 * Given names first, then numbered ones where modules, operators, weights and wires agree. In `paths`, 0
 * means no module.
 */
export function joinByTrustedNames(pairs: PairTable, paths: NamePaths): void {
  const kinds = [nodeNames(pairs), tensorNames(pairs), weightNames(pairs)];
  // The output of a quantizer is named after its source; a node that only changes the storage type keeps
  // its own name.
  const stripped = (name: string, side: Side, node: number): string =>
    pairs.operators[side].forwardsInput(node) ? name : sourceName(name);
  const numbered = kinds.map(({ nameOf }) => new NumberedNames(pairs, nameOf));
  kinds.forEach((names, kind) => {
    const pair = uniquePairs(pairs, (side, node) => {
      const name = stripped(names.nameOf(side, node), side, node);
      return name === '' || numbered[kind].isNumbered(name) ? null : name;
    });
    join(pairs, names, pair);
  });
  // Numbered names of weights add nothing to those of the nodes that read them.
  kinds.slice(0, 2).forEach((names, kind) => {
    const pair = uniquePairs(pairs, (side, node) => {
      const name = stripped(names.nameOf(side, node), side, node);
      return numbered[kind].isNumbered(name) ? name : null;
    });
    join(pairs, names, trustPairs(pairs, paths, pair, names.nameOf));
  });
}
