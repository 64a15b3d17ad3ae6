/**
 * Dependencies of a value in both directions: traversals along tensors, also through subgraphs of
 * control-flow nodes. All take linear time without recursion and tolerate cycles.
 */

import { groupBy, IntList } from '../base/csr';
import type { ICsrRows } from '../base/csr';
import type { IGroupTree } from '../tree/treeTypes';

/** Start of a traversal. */
export interface ISeeds {
  readonly nodes: readonly number[];
  readonly tensors?: readonly number[];
}

/** Result of a traversal; 1 means reached. A wire belongs to it if its tensor and its reader do. */
export interface ITrace {
  readonly nodes: Uint8Array;
  readonly tensors: Uint8Array;
  /** Number of nodes reached, including the seeds. */
  readonly count: number;
  /** True if reached model outputs belong to it. */
  readonly outputs: boolean;
}

/** Readers of each tensor, and the inputs of control-flow subgraphs. */
interface IReaderIndex {
  readonly readers: ICsrRows;
  /** Graph of a subgraph's formal input; -1 for any other tensor. */
  readonly formalOf: Int32Array;
  /** Formal inputs of the subgraphs of a node. */
  readonly formals: ReadonlyMap<number, readonly number[]>;
}

const readerIndexes = new WeakMap<IGroupTree, IReaderIndex>();

function readerIndexOf(tree: IGroupTree): IReaderIndex {
  const index = readerIndexes.get(tree);
  if (index) {
    return index;
  }
  const { model, reads } = tree;
  const { graphs } = model.payload;
  const nodes = new Int32Array(reads.values.length);
  for (let node = 0; node < model.nodeCount; node++) {
    nodes.fill(node, reads.offsets[node], reads.offsets[node + 1]);
  }
  const formalOf = new Int32Array(model.tensorCount).fill(-1);
  const formals = new Map<number, number[]>();
  for (let graph = 1; graph < graphs.name.length; graph++) {
    const node = graphs.parent_node[graph];
    const list = formals.get(node) ?? [];
    for (const tensor of graphs.inputs[graph] ?? []) {
      if (tensor >= 0 && tensor < model.tensorCount) {
        formalOf[tensor] = graph;
        list.push(tensor);
      }
    }
    formals.set(node, list);
  }
  const readers = groupBy(model.tensorCount, reads.values, nodes);
  const flow: IReaderIndex = { readers, formalOf, formals };
  readerIndexes.set(tree, flow);
  return flow;
}

/** Marks and pending work of one traversal. */
class GraphWalk {
  constructor(protected readonly tree: IGroupTree) {
    this.nodes = new Uint8Array(tree.model.nodeCount);
    this.tensors = new Uint8Array(tree.model.tensorCount);
  }

  readonly nodes: Uint8Array;
  readonly tensors: Uint8Array;
  count = 0;

  node(node: number): void {
    if (
      node >= 0 &&
      node < this.nodes.length &&
      !this.nodes[node] &&
      !this.tree.model.nodeConstant[node]
    ) {
      this.nodes[node] = 1;
      this.count++;
      this._open.push(node);
    }
  }

  tensor(tensor: number): void {
    if (tensor >= 0 && tensor < this.tensors.length && !this.tensors[tensor]) {
      this.tensors[tensor] = 1;
      this._open.push(-1 - tensor);
    }
  }

  /** Visits all pending nodes and tensors, including those added on the way. */
  run(onNode: (node: number) => void, onTensor: (tensor: number) => void) {
    for (let index = 0; index < this._open.length; index++) {
      const next = this._open.at(index);
      if (next >= 0) {
        onNode(next);
      } else {
        onTensor(-1 - next);
      }
    }
  }

  private readonly _open = new IntList();
}

function start(tree: IGroupTree, seeds: ISeeds): GraphWalk {
  const walk = new GraphWalk(tree);
  for (const node of seeds.nodes) {
    walk.node(node);
  }
  for (const tensor of seeds.tensors ?? []) {
    walk.tensor(tensor);
  }
  return walk;
}

/** Everything the seeds depend on, including the seeds. */
export function collectAncestors(tree: IGroupTree, seeds: ISeeds): ITrace {
  const { model, reads } = tree;
  const { graphs } = model.payload;
  const { formalOf } = readerIndexOf(tree);
  const walk = start(tree, seeds);
  walk.run(
    node => {
      for (let k = reads.offsets[node]; k < reads.offsets[node + 1]; k++) {
        walk.tensor(reads.values[k]);
      }
    },
    tensor => {
      walk.node(model.tensorProducer[tensor]);
      const graph = formalOf[tensor];
      if (graph < 0) {
        return;
      }
      // A subgraph's input comes from its node's inputs and, in a loop, from the previous iteration.
      const parent = graphs.parent_node[graph];
      const end = model.inputOffsets[parent + 1] ?? 0;
      for (let k = model.inputOffsets[parent] ?? 0; k < end; k++) {
        walk.tensor(model.inputs[k]);
      }
      (graphs.outputs[graph] ?? []).forEach(output => walk.tensor(output));
    }
  );
  return { ...marksOf(walk), outputs: false };
}

/** Everything that depends on the seeds, including the seeds. */
export function collectDescendants(tree: IGroupTree, seeds: ISeeds): ITrace {
  const { model } = tree;
  const { readers, formals } = readerIndexOf(tree);
  const walk = start(tree, seeds);
  walk.run(
    node => {
      const end = model.outputOffsets[node + 1];
      for (let k = model.outputOffsets[node]; k < end; k++) {
        walk.tensor(model.outputs[k]);
      }
      formals.get(node)?.forEach(formal => walk.tensor(formal));
    },
    tensor => {
      const end = readers.offsets[tensor + 1];
      for (let k = readers.offsets[tensor]; k < end; k++) {
        walk.node(readers.values[k]);
      }
    }
  );
  return { ...marksOf(walk), outputs: true };
}

function marksOf({ nodes, tensors, count }: GraphWalk) {
  return { nodes, tensors, count };
}

/** Everything on a path from one set to the other; null if there is no path. */
function oneWay(
  tree: IGroupTree,
  from: ISeeds,
  to: ISeeds
): Omit<ITrace, 'outputs'> | null {
  const ahead = collectDescendants(tree, from);
  const isReached =
    to.nodes.some(node => ahead.nodes[node]) ||
    (to.tensors ?? []).some(tensor => ahead.tensors[tensor]);
  if (!isReached) {
    return null;
  }
  const behind = collectAncestors(tree, to);
  let count = 0;
  const nodes = ahead.nodes.map((mark, node) => {
    const isBetween = mark & behind.nodes[node];
    count += isBetween;
    return isBetween;
  });
  const tensors = ahead.tensors.map((mark, t) => mark & behind.tensors[t]);
  return { nodes, tensors, count };
}

/** Everything on the paths between two sets, in either direction; null if there are none. */
export function pathsBetween(
  tree: IGroupTree,
  a: ISeeds,
  b: ISeeds
): ITrace | null {
  const traces = [oneWay(tree, a, b), oneWay(tree, b, a)].filter(
    trace => trace !== null
  );
  if (traces.length === 0) {
    return null;
  }
  const [first, second] = traces;
  if (!second) {
    return { ...first, outputs: false };
  }
  const nodes = first.nodes.map((mark, node) => mark | second.nodes[node]);
  return {
    nodes,
    tensors: first.tensors.map((mark, t) => mark | second.tensors[t]),
    count: nodes.reduce((sum, mark) => sum + mark, 0),
    outputs: false
  };
}
