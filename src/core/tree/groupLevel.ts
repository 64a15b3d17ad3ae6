/**
 * One level of the tree: the children of a group, the tensors that enter and leave it, and the links
 * between them. Links are lifted to the level: links inside a child belong to that child.
 */

import { LinkList, TO_CHILD, TO_OUTPUT, TO_PORT } from './levelLinks';
import { seriesRepresentative } from './tensorSeries';
import type { IGroupTree, ILevel } from './treeTypes';

/** Marks of pill and port items until their final numbers are known. */
const INPUT = 1;
const PORT_IN = 2;

const EMPTY = new Int32Array(0);

function toInt32Array(list: readonly number[]): Int32Array {
  return list.length > 0 ? Int32Array.from(list) : EMPTY;
}

/** Builds levels; keeps scratch arrays between calls. */
export class LevelBuilder {
  constructor(tree: IGroupTree) {
    this._tree = tree;
    const { tensorCount } = tree.model;
    this._local = new Int32Array(tree.nodeOrder.length);
    this._stamp = new Int32Array(tensorCount).fill(-2);
    this._source = new Int32Array(tensorCount);
    this._lastTarget = new Int32Array(tensorCount);
    this._lead = Int32Array.from({ length: tensorCount }, (_, t) => t);
    this._inSeries = new Uint8Array(tensorCount);
    this._links = new LinkList(this._inSeries);
    for (const [tensor, series] of tree.series) {
      this._inSeries[tensor] = 1;
      if (series.kind === 'input') {
        this._lead[tensor] = series.members[0];
      }
    }
  }

  /** The level of a group; -1 is the root. Linear in the nodes below it. */
  build(group: number): ILevel {
    const { nodeOrder, groupStart, groupEnd } = this._tree;
    this._group = group;
    this._start = group < 0 ? 0 : groupStart[group];
    this._end = group < 0 ? nodeOrder.length : groupEnd[group];
    const children = this._tree.children[group + 1];
    this._fillLocal(children);
    this._links.clear();
    this._inputs = [];
    this._portsIn = [];
    this._stampId++;
    if (group < 0) {
      this._addModelInputs();
    }
    this._collectReads();
    const { outputs, leaving } = this._collectWrites();
    return this._finish(group, children, outputs, leaving);
  }

  private _fillLocal(children: Int32Array): void {
    const { model, nodePosition, groupStart, groupEnd } = this._tree;
    for (let item = 0; item < children.length; item++) {
      const child = children[item] - model.nodeCount;
      if (child < 0) {
        this._local[nodePosition[children[item]]] = item;
      } else {
        this._local.fill(item, groupStart[child], groupEnd[child]);
      }
    }
  }

  private _addModelInputs(): void {
    const { model } = this._tree;
    for (const tensor of model.payload.tensors.inputs) {
      const usable =
        tensor >= 0 &&
        tensor < model.tensorCount &&
        this._lead[tensor] === tensor &&
        this._tree.inputPillGroup[tensor] < 0;
      if (usable && this._stamp[tensor] !== this._stampId) {
        this._remember(tensor, this._newInput(tensor));
      }
    }
  }

  private _collectReads(): void {
    const { nodeOrder, reads } = this._tree;
    for (let position = this._start; position < this._end; position++) {
      const node = nodeOrder[position];
      const target = this._local[position];
      for (let k = reads.offsets[node]; k < reads.offsets[node + 1]; k++) {
        const member = reads.values[k];
        const tensor = this._lead[member];
        if (this._stamp[tensor] !== this._stampId) {
          this._remember(tensor, this._locate(tensor));
        }
        if (this._source[tensor] === target) {
          continue;
        }
        // The nodes of one child are adjacent, so the last target identifies duplicates.
        const isNew = this._lastTarget[tensor] !== target;
        if (isNew) {
          this._lastTarget[tensor] = target;
          this._links.add(this._source[tensor], target, tensor, TO_CHILD);
        }
        if (this._inSeries[member]) {
          this._links.count(member, target, tensor, isNew);
        }
      }
    }
  }

  private _collectWrites(): { outputs: number[]; leaving: number[] } {
    const { model, nodeOrder, firstRead, lastRead, outputsOf } = this._tree;
    const outputs: number[] = [];
    const leaving: number[] = [];
    const pills = new Map<number, number>();
    for (const tensor of outputsOf.get(this._group) ?? []) {
      const representative = seriesRepresentative(this._tree.series, tensor);
      const pill = pills.get(representative) ?? outputs.length;
      if (pill === outputs.length) {
        pills.set(representative, pill);
        outputs.push(representative);
      }
      this._linkOutput(tensor, representative, pill);
    }
    if (this._group < 0) {
      return { outputs, leaving };
    }
    const ports = new Map<number, number>();
    for (let position = this._start; position < this._end; position++) {
      const node = nodeOrder[position];
      const end = model.outputOffsets[node + 1];
      for (let k = model.outputOffsets[node]; k < end; k++) {
        const tensor = model.outputs[k];
        const outside =
          tensor >= 0 &&
          lastRead[tensor] >= 0 &&
          (firstRead[tensor] < this._start || lastRead[tensor] >= this._end);
        if (outside) {
          const representative = seriesRepresentative(
            this._tree.series,
            tensor
          );
          const port = ports.get(representative) ?? leaving.length;
          if (port === leaving.length) {
            ports.set(representative, port);
            leaving.push(representative);
          }
          this._links.addResult(
            this._local[position],
            port,
            tensor,
            representative,
            TO_PORT
          );
        }
      }
    }
    return { outputs, leaving };
  }

  /** Links a model output's pill to its producer, or to the input that it passes on. */
  private _linkOutput(
    tensor: number,
    representative: number,
    pill: number
  ): void {
    const { model, nodePosition } = this._tree;
    const producer = model.tensorProducer[tensor];
    if (producer >= 0 && nodePosition[producer] >= 0) {
      const source = this._local[nodePosition[producer]];
      this._links.addResult(source, pill, tensor, representative, TO_OUTPUT);
    } else if (this._stamp[tensor] === this._stampId) {
      this._links.add(this._source[tensor], pill, tensor, TO_OUTPUT);
    }
  }

  private _remember(tensor: number, source: number): void {
    this._stamp[tensor] = this._stampId;
    this._source[tensor] = source;
    this._lastTarget[tensor] = -1;
  }

  /** The item that the tensor comes from on this level: a child, or a new pill or port. */
  private _locate(tensor: number): number {
    const tree = this._tree;
    const producer = tree.model.tensorProducer[tensor];
    if (producer >= 0) {
      const position = tree.nodePosition[producer];
      const inside = position >= this._start && position < this._end;
      return inside ? this._local[position] : this._newPort(tensor);
    }
    const pillGroup = tree.inputPillGroup[tensor];
    if (pillGroup === this._group) {
      return this._newInput(tensor);
    }
    const below =
      pillGroup > this._group &&
      tree.groupStart[pillGroup] >= this._start &&
      tree.groupEnd[pillGroup] <= this._end;
    return below
      ? this._local[tree.groupStart[pillGroup]]
      : this._newPort(tensor);
  }

  /** Pills and ports get negative numbers until all are known. */
  private _newInput(tensor: number): number {
    this._inputs.push(tensor);
    return -(this._inputs.length * 4 + INPUT);
  }

  private _newPort(tensor: number): number {
    this._portsIn.push(tensor);
    return -(this._portsIn.length * 4 + PORT_IN);
  }

  private _finish(
    group: number,
    children: Int32Array,
    outputs: number[],
    leaving: number[]
  ): ILevel {
    const firstInput = children.length;
    const firstOutput = firstInput + this._inputs.length;
    const firstPortIn = firstOutput + outputs.length;
    const firstPortOut = firstPortIn + this._portsIn.length;
    const firstTarget = [0, firstOutput, firstPortOut];
    const links = this._links;
    const linkSource = links.sources.toArray();
    const linkTarget = links.targets.toArray();
    for (let i = 0; i < linkSource.length; i++) {
      const source = -linkSource[i];
      if (source > 0) {
        const isInput = (source & 3) === INPUT;
        linkSource[i] =
          (isInput ? firstInput : firstPortIn) + (source >> 2) - 1;
      }
      linkTarget[i] += firstTarget[links.marks.at(i)];
    }
    return {
      group,
      children,
      inputs: toInt32Array(this._inputs),
      outputs: toInt32Array(outputs),
      portsIn: toInt32Array(this._portsIn),
      portsOut: toInt32Array(leaving),
      itemCount: firstPortOut + leaving.length,
      linkSource,
      linkTarget,
      linkTensor: links.tensors.toArray(),
      linkWeight: links.weights.toArray(),
      linkMember: links.members.toArray()
    };
  }

  private readonly _tree: IGroupTree;
  /** Item at each position in the level's range. */
  private readonly _local: Int32Array;
  private readonly _stamp: Int32Array;
  private readonly _source: Int32Array;
  private readonly _lastTarget: Int32Array;
  private _stampId = -1;
  private _group = -1;
  private _start = 0;
  private _end = 0;
  private readonly _links: LinkList;
  /** By tensor: the input that represents it. */
  private readonly _lead: Int32Array;
  private readonly _inSeries: Uint8Array;
  private _inputs: number[] = [];
  private _portsIn: number[] = [];
}
