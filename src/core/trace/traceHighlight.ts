/** The boxes and wires of a scene that belong to a trace, however many groups are collapsed. */

import type { ITrace } from './dataflowTrace';
import { BoxKind, type IScene } from '../types';
import type { IGroupTree } from '../tree/treeTypes';

/** 1 if it belongs to the trace. */
export interface ITraceHighlight {
  readonly boxes: Uint8Array;
  readonly edges: Uint8Array;
}

/** Whether a node's reading of a tensor counts; `nodeCount` as the reader means the end of the model. */
export type WireTest = (node: number, tensor: number) => boolean;

class TraceHighlighter {
  constructor(
    private readonly _tree: IGroupTree,
    private readonly _scene: IScene,
    private readonly _trace: ITrace,
    private readonly _on: WireTest = () => true
  ) {
    this.boxes = new Uint8Array(_scene.boxCount);
    this.edges = new Uint8Array(_scene.edgeCount);
    const { tensorCount } = _tree.model;
    this._first = new Int32Array(tensorCount).fill(2 ** 31 - 1);
    this._last = new Int32Array(tensorCount).fill(-1);
  }

  readonly boxes: Uint8Array;
  readonly edges: Uint8Array;

  run(): ITraceHighlight {
    const { nodes } = this._trace;
    for (let node = 0; node < nodes.length; node++) {
      if (nodes[node]) {
        this._addNode(node);
      }
    }
    this._addOutputs();
    const { edgeSource, edgeTarget, edgeCount } = this._scene;
    for (let e = 0; e < edgeCount; e++) {
      if (this._isMember(e)) {
        this.edges[e] = 1;
        this.boxes[edgeSource[e]] = 1;
        this.boxes[edgeTarget[e]] = 1;
      }
    }
    this._addLonePills();
    return { boxes: this.boxes, edges: this.edges };
  }

  /** Adds the box that shows the node, the panels around it, and the tensors it reads. */
  private _addNode(node: number): void {
    const { reads, model, nodePosition } = this._tree;
    const { boxParent } = this._scene;
    const target = this._scene.boxOf(node);
    for (let b = target; b >= 0 && !this.boxes[b]; b = boxParent[b]) {
      this.boxes[b] = 1;
    }
    for (let k = reads.offsets[node]; k < reads.offsets[node + 1]; k++) {
      const tensor = reads.values[k];
      if (!this._trace.tensors[tensor] || !this._on(node, tensor)) {
        continue;
      }
      const position = nodePosition[node];
      this._first[tensor] = Math.min(this._first[tensor], position);
      this._last[tensor] = Math.max(this._last[tensor], position);
      for (let b = target; b >= 0 && this._reach(tensor, b); b = boxParent[b]) {
        // Stops at panels that are already marked.
      }
      const producer = model.tensorProducer[tensor];
      const source = producer >= 0 ? this._scene.boxOf(producer) : -1;
      if (source >= 0 && target >= 0) {
        this._pairs.add(source * this._scene.boxCount + target);
      }
    }
  }

  private _addOutputs(): void {
    const { nodeOrder, outputsOf } = this._tree;
    if (this._trace.outputs) {
      for (const tensor of outputsOf.get(-1) ?? []) {
        if (this._isEnd(tensor)) {
          this._last[tensor] = nodeOrder.length;
        }
      }
    }
  }

  /** True if the path from the tensor to a model output belongs to the trace. */
  private _isEnd(tensor: number): boolean {
    const { outputs, tensors } = this._trace;
    return (
      outputs &&
      tensors[tensor] === 1 &&
      this._on(this._tree.model.nodeCount, tensor)
    );
  }

  /** Marks a tensor as read in a box; returns false if it was marked before. */
  private _reach(tensor: number, box: number): boolean {
    const key = tensor * this._scene.boxCount + box;
    const isNew = !this._reached.has(key);
    this._reached.add(key);
    return isNew;
  }

  private _isMember(edge: number): boolean {
    const tensor = this._scene.edgeTensor[edge];
    // A wire with several members of a series is labelled with the first.
    const members = this._tree.series.get(tensor)?.members;
    const tensors = members?.[0] === tensor ? members : [tensor];
    return tensors.some(tensor => this._carries(edge, tensor));
  }

  /** True if the wire belongs to the trace when it carries this tensor. */
  private _carries(edge: number, tensor: number): boolean {
    const { edgeSource, edgeTarget, boxKind, boxCount } = this._scene;
    const [source, target] = [edgeSource[edge], edgeTarget[edge]];
    const into = (box: number): boolean =>
      this._reached.has(tensor * boxCount + box);
    switch (boxKind[target]) {
      case BoxKind.Port:
        return this._isInside(source, target)
          ? this._isReadOutside(tensor, this._scene.boxParent[target])
          : into(this._scene.boxParent[target]);
      case BoxKind.Output:
        return this._isEnd(tensor);
      case BoxKind.Stub:
        return this._last[tensor] >= 0;
      default:
        // Between two cards, a wire may stand for tensors other than the one it names.
        return boxKind[source] <= BoxKind.Group &&
          boxKind[target] <= BoxKind.Group
          ? this._pairs.has(source * boxCount + target)
          : into(target);
    }
  }

  /** True if the wire starts inside the port's panel, so that the tensor leaves it. */
  private _isInside(source: number, port: number): boolean {
    const { boxParent, boxKind } = this._scene;
    const panel = boxParent[port];
    const around = boxParent[source];
    return (
      around === panel ||
      (boxKind[source] === BoxKind.Port &&
        around >= 0 &&
        boxParent[around] === panel)
    );
  }

  private _isReadOutside(tensor: number, panel: number): boolean {
    const { model, groupStart, groupEnd } = this._tree;
    const group = panel < 0 ? -1 : this._scene.boxEntity[panel];
    const inside = group - model.nodeCount;
    return (
      inside < 0 ||
      this._first[tensor] < groupStart[inside] ||
      this._last[tensor] >= groupEnd[inside]
    );
  }

  /** Adds inputs without wires that are seeds of the trace. */
  private _addLonePills(): void {
    const { boxKind, boxEntity, boxCount } = this._scene;
    for (let b = 0; b < boxCount; b++) {
      const tensor = boxEntity[b];
      const tensors = this._tree.series.get(tensor)?.members ?? [tensor];
      if (
        boxKind[b] === BoxKind.Input &&
        tensors.some(tensor => this._last[tensor] >= 0)
      ) {
        this.boxes[b] = 1;
      }
    }
  }

  /** Boxes that show or contain a reader of a traced tensor: `tensor · boxCount + box`. */
  private readonly _reached = new Set<number>();
  /** Pairs of boxes connected by a traced tensor: `source · boxCount + target`. */
  private readonly _pairs = new Set<number>();
  /** First and last position that reads a traced tensor. */
  private readonly _first: Int32Array;
  private readonly _last: Int32Array;
}

/** Finds the boxes and wires of a scene that belong to a trace. Linear in nodes, reads and wires. */
export function computeTraceHighlight(
  tree: IGroupTree,
  scene: IScene,
  trace: ITrace
): ITraceHighlight {
  return new TraceHighlighter(tree, scene, trace).run();
}

/**
 * By edge of a scene: true if any wire it stands for passes the test. Linear in nodes, reads and wires.
 */
export function highlightedWires(
  tree: IGroupTree,
  scene: IScene,
  isOn: WireTest
): Uint8Array {
  const { nodeCount: count, tensorCount } = tree.model;
  const trace: ITrace = {
    ...{ nodes: new Uint8Array(count).fill(1), count, outputs: true },
    tensors: new Uint8Array(tensorCount).fill(1)
  };
  return new TraceHighlighter(tree, scene, trace, isOn).run().edges;
}
