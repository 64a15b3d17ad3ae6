/**
 * Merges two aligned models into one graph: all of the first, and the nodes that only the second has,
 * wired to the counterparts of their neighbours. Wires of both models are kept, with the model that has
 * each. The result is drawn and grouped like any model; it has no costs, since they would belong to
 * neither.
 */

import type { GraphPayload } from '../../schema';
import type { IAlignmentColumns } from '../matching/alignmentChanges';
import { MergedScopes } from './mergedScopes';
import { TENSOR_KIND } from '../model/decodePayload';
import {
  copyColumns,
  pairOutputs,
  row,
  sameInputs,
  toCsr
} from './columnPairs';
import { mergeOrder } from './mergeOrder';
import { PairWires, shownInputs, WIRE, type WireSide } from './mergedWires';

export interface IMergedPayload {
  readonly payload: GraphPayload;
  /** By node of the merged graph: 0 for the first model, 1 if only in the second. */
  readonly side: Uint8Array;
  /** Node id in that model. */
  readonly node: Int32Array;
  /** By tensor: its model, and its id there. */
  readonly tensorSide: Uint8Array;
  readonly tensor: Int32Array;
  /** The alignment in terms of merged nodes, on both sides. */
  readonly alignment: IAlignmentColumns;
  /** The models in which a node reads a tensor; `nodes.op.length` as a node means the model's outputs. */
  wire(node: number, tensor: number): WireSide;
}

const NO_COSTS = 'Costs are shown where each model has its own picture.';

/** Nodes of the second model that are not in the merged graph. */
const NONE = -1;

class PayloadMerger {
  private readonly _tensors: GraphPayload['tensors'];
  private readonly _scopes: GraphPayload['scopes'];
  private readonly _graphs: GraphPayload['graphs'];
  /** Added tensors, as ids of the second model. */
  private readonly _added: number[] = [];
  private readonly _tensorOf = new Map<number, number>();
  private readonly _graphOf = new Map<number, number>();
  private readonly _exits: readonly [number[][], number[][]];
  private readonly _boxes: MergedScopes;
  /** Nodes only in the second model. */
  private readonly _only: readonly number[];
  private readonly _place: ReadonlyMap<number, number>;
  /** By node of the first model: additional tensors read by its counterpart. */
  private readonly _extra = new Map<number, number[]>();
  /** By model input of the second model: its counterpart. */
  private readonly _inputOf: ReadonlyMap<number, number>;
  private readonly _wires: readonly [PairWires, PairWires];
  /** Results only in the second model. */
  private readonly _newEnds = new Set<number>();

  constructor(
    private readonly _a: GraphPayload,
    private readonly _b: GraphPayload,
    private readonly _given: IAlignmentColumns
  ) {
    this._tensors = copyColumns(_a.tensors);
    this._scopes = copyColumns(_a.scopes);
    this._graphs = copyColumns(_a.graphs);
    this._exits = [pairOutputs(_a, _given.left), pairOutputs(_b, _given.right)];
    const pairs = _given.main_left.flatMap((a, index) => {
      const b = _given.main_right[index];
      return a >= 0 && b >= 0 ? [[a, b] as const] : [];
    });
    this._boxes = new MergedScopes(_a, _b, this._scopes, pairs);
    this._inputOf = sameInputs(_a, _b);
    const leftInputs = new Map(shownInputs(_a).map(tensor => [tensor, tensor]));
    const rightInputs = new Map(
      shownInputs(_b).map(tensor => [
        tensor,
        this._inputOf.get(tensor) ?? _a.tensors.name.length + tensor
      ])
    );
    this._wires = [
      new PairWires(_a, _given.left, leftInputs),
      new PairWires(_b, _given.right, rightInputs)
    ];
    this._only = _given.right.flatMap((pair, node) =>
      pair === -1 ? [node] : []
    );
    this._place = new Map(this._only.map((node, index) => [node, index]));
  }

  merge(name: string): IMergedPayload {
    const { _a: a, _b: b, _only: only } = this;
    const count = a.nodes.op.length;
    this._join();
    const inputs = only.map(node =>
      row(b, 'input', node).map(t => this._of(t))
    );
    const outputs = only.map(node =>
      row(b, 'output', node).map(t => this._of(t))
    );
    this._results();
    const reads = [
      ...a.nodes.op.map((_, node) => [
        ...row(a, 'input', node),
        ...(this._extra.get(node) ?? [])
      ]),
      ...inputs
    ];
    const writes = [
      ...a.nodes.op.map((_, n) => row(a, 'output', n)),
      ...outputs
    ];
    const order = mergeOrder(reads, writes, this._places());
    const newIndex = new Int32Array(order.length);
    order.forEach((node, index) => (newIndex[node] = index));
    const scope = [
      ...a.nodes.scope,
      ...only.map(node => this._boxes.of(b.nodes.scope[node]))
    ];
    const graph = [
      ...a.nodes.graph,
      ...only.map(node => this._graph(b.nodes.graph[node]))
    ];
    const { _mergedTensors: tensors } = this;
    tensors.producer = tensors.producer.map(node =>
      node < 0 ? node : newIndex[node]
    );
    this._graphs.parent_node = this._graphs.parent_node.map(parent =>
      parent < 0 ? parent : newIndex[parent]
    );
    const [ins, outs] = [reads, writes].map(rows =>
      toCsr(order.map(node => rows[node]))
    );
    const unknown = order.map(() => null);
    const of = <T>(left: readonly T[], right: (node: number) => T): T[] =>
      order.map(node =>
        node < count ? left[node] : right(only[node - count])
      );
    const settings: Record<string, string> = {};
    order.forEach((node, index) => {
      const [from, id] = node < count ? [a, node] : [b, only[node - count]];
      const text = from.nodes.settings?.[String(id)];
      if (text !== undefined) {
        settings[String(index)] = text;
      }
    });
    const nodes: GraphPayload['nodes'] = {
      ...a.nodes,
      op: of(a.nodes.op, node => a.ops.length + b.nodes.op[node]),
      name: of(a.nodes.name, node => b.nodes.name[node]),
      scope: order.map(node => scope[node]),
      graph: order.map(node => graph[node]),
      constant: a.nodes.constant
        .map(node => newIndex[node])
        .sort((x, y) => x - y),
      inputs: ins.values,
      input_offsets: ins.offsets,
      outputs: outs.values,
      output_offsets: outs.offsets,
      params: unknown,
      weight_bytes: unknown,
      macs: unknown,
      flops: unknown,
      read_bytes: unknown,
      write_bytes: unknown,
      activation_bytes: unknown,
      reason: Object.fromEntries(order.map((_, index) => [index, NO_COSTS])),
      runs: {},
      runs_unknown: [],
      uncounted: [],
      settings
    };
    return {
      payload: {
        ...a,
        model: { ...a.model, name },
        nodes,
        tensors,
        scopes: this._scopes,
        graphs: this._graphs,
        ops: [...a.ops, ...b.ops],
        dtypes: [...a.dtypes, ...b.dtypes],
        shapes: [...a.shapes, ...b.shapes],
        metrics: {
          ...a.metrics,
          total_macs: null,
          total_params: null,
          total_flops: null
        },
        timeline: null,
        architecture: null,
        expressions: null,
        batch: null,
        modules: null,
        attributes: null,
        identity: null,
        risk_signals: [],
        diagnostics: [],
        graph: { ...a.graph, num_nodes: order.length - nodes.constant.length },
        blocks: { what: [], kinds: [], offsets: [0], nodes: [] }
      },
      side: Uint8Array.from(order, node => (node < count ? 0 : 1)),
      node: Int32Array.from(order, node =>
        node < count ? node : only[node - count]
      ),
      tensorSide: Uint8Array.from(tensors.name, (_, tensor) =>
        tensor < a.tensors.name.length ? 0 : 1
      ),
      tensor: Int32Array.from(tensors.name, (_, tensor) =>
        tensor < a.tensors.name.length
          ? tensor
          : this._added[tensor - a.tensors.name.length]
      ),
      alignment: this._alignment(order, newIndex),
      wire: this._sides(order)
    };
  }

  private get _mergedTensors(): GraphPayload['tensors'] {
    return this._tensors;
  }

  private _alignment(
    order: readonly number[],
    newIndex: Int32Array
  ): IAlignmentColumns {
    const alignment = this._given;
    const column = order.map(node => alignment.left[node] ?? -1);
    const main = alignment.main_left.map(node =>
      node < 0 ? node : newIndex[node]
    );
    return {
      changes: alignment.changes,
      kinds: alignment.kinds,
      left: column,
      right: column,
      main_left: main,
      main_right: main
    };
  }

  private _sides(order: readonly number[]): IMergedPayload['wire'] {
    const { _a: a } = this;
    const count = a.nodes.op.length;
    const [leftWires, rightWires] = this._wires;
    return (node, tensor) => {
      const isLeft = tensor < a.tensors.name.length;
      if (node >= order.length) {
        return this._newEnds.has(tensor)
          ? WIRE.added
          : leftWires.isOnlyEnd(tensor, rightWires)
            ? WIRE.removed
            : WIRE.both;
      }
      const old = order[node];
      if (old >= count || !isLeft || this._extra.get(old)?.includes(tensor)) {
        return WIRE.added;
      }
      return leftWires.isOnly(tensor, old, rightWires)
        ? WIRE.removed
        : WIRE.both;
    };
  }

  /**
   * Preferred position of each node; those of the second model follow the counterpart of their
   * predecessor.
   */
  private _places(): number[] {
    const { _given: alignment } = this;
    const last = new Map<number, number>();
    alignment.left.forEach((pair, node) => last.set(pair, node));
    const positions = alignment.left.map((_, node) => node);
    let position = -1;
    alignment.right.forEach(pair => {
      if (pair === -1) {
        positions.push(position + 0.5);
      } else if (pair >= 0) {
        position = last.get(pair) ?? position;
      }
    });
    return positions;
  }

  /** Adds wires of the second model that end at nodes of both. */
  private _join(): void {
    const { _b: b, _given: alignment } = this;
    const [leftWires, rightWires] = this._wires;
    alignment.right.forEach((pair, node) => {
      const into = alignment.main_left[pair] ?? NONE;
      if (pair < 0 || into < 0) {
        return;
      }
      for (const tensor of row(b, 'input', node)) {
        if (tensor < 0 || !rightWires.isOnly(tensor, node, leftWires)) {
          continue;
        }
        const mapped = this._of(tensor);
        const read = row(this._a, 'input', into);
        const extra = this._extra.get(into) ?? [];
        if (mapped >= 0 && !read.includes(mapped) && !extra.includes(mapped)) {
          this._extra.set(into, [...extra, mapped]);
        }
      }
    });
  }

  /** Adds results that only the second model has. */
  private _results(): void {
    for (const tensor of this._b.tensors.outputs) {
      const [leftWires, rightWires] = this._wires;
      const mapped = rightWires.isOnlyEnd(tensor, leftWires)
        ? this._of(tensor)
        : NONE;
      if (mapped >= 0 && !this._tensors.outputs.includes(mapped)) {
        this._newEnds.add(mapped);
        this._tensors.outputs.push(mapped);
        this._graphs.outputs[0]?.push(mapped);
      }
    }
  }

  /** The merged tensor of a tensor of the second model. */
  private _of(tensor: number): number {
    if (tensor < 0) {
      return tensor;
    }
    const existing = this._tensorOf.get(tensor);
    if (existing !== undefined) {
      return existing;
    }
    const counterpart = this._counterpart(tensor);
    const mapped = counterpart >= 0 ? counterpart : this._add(tensor);
    this._tensorOf.set(tensor, mapped);
    return mapped;
  }

  private _counterpart(tensor: number): number {
    const { _b: b, _given: alignment } = this;
    const producer = b.tensors.producer[tensor];
    if (producer >= 0) {
      const pair = alignment.right[producer];
      const rightIndex = this._exits[1][pair]?.indexOf(tensor) ?? -1;
      const leftOutputs = this._exits[0][pair] ?? [];
      return leftOutputs[rightIndex] ?? leftOutputs[0] ?? -1;
    }
    return this._inputOf.get(tensor) ?? -1;
  }

  private _add(tensor: number): number {
    const { _a: a, _b: b, _tensors: into } = this;
    const producer = b.tensors.producer[tensor];
    const isRightOnly = producer >= 0 && this._given.right[producer] === -1;
    const kind = b.tensors.kind[tensor];
    const id = into.name.length;
    into.name.push(b.tensors.name[tensor]);
    into.dtype.push(a.dtypes.length + b.tensors.dtype[tensor]);
    into.shape.push(a.shapes.length + b.tensors.shape[tensor]);
    // Values computed from constants alone are not drawn.
    into.kind.push(producer >= 0 && !isRightOnly ? TENSOR_KIND.constant : kind);
    into.producer.push(
      isRightOnly ? a.nodes.op.length + this._place.get(producer)! : NONE
    );
    this._added.push(tensor);
    if (kind === TENSOR_KIND.input) {
      into.inputs.push(id);
      this._graphs.inputs[0]?.push(id);
    }
    return id;
  }

  /** The merged subgraph of a subgraph of the second model; 0 is the main graph. */
  private _graph(graph: number): number {
    const { _a: a, _b: b, _given: alignment } = this;
    const existing = graph === 0 ? 0 : this._graphOf.get(graph);
    if (existing !== undefined) {
      return existing;
    }
    const control = b.graphs.parent_node[graph];
    const pair = alignment.right[control] ?? -2;
    const attribute = b.graphs.attribute[graph];
    let shared = 0;
    if (pair >= 0) {
      const graph = a.graphs.parent_node.findIndex(
        (node, index) =>
          node >= 0 &&
          alignment.left[node] === pair &&
          a.graphs.attribute[index] === attribute
      );
      shared = Math.max(0, graph);
    } else if (pair === -1) {
      const into = this._graphs;
      shared = into.name.length;
      into.name.push(b.graphs.name[graph]);
      into.parent_node.push(a.nodes.op.length + this._place.get(control)!);
      into.attribute.push(attribute);
      const scope = b.graphs.scope[graph];
      into.scope.push(scope < 0 ? -1 : this._boxes.of(scope));
      into.inputs.push(b.graphs.inputs[graph].map(t => this._of(t)));
      into.outputs.push(b.graphs.outputs[graph].map(t => this._of(t)));
    }
    this._graphOf.set(graph, shared);
    return shared;
  }
}

/**
 * Merges two models into one graph; the columns must belong to these payloads. Takes about linear time.
 */
export function mergePayloads(
  a: GraphPayload,
  b: GraphPayload,
  alignment: IAlignmentColumns,
  name: string
): IMergedPayload {
  return new PayloadMerger(a, b, alignment).merge(name);
}
