/** The links of a level under construction: one per tensor and pair of items. */

import { IntList } from '../base/csr';

/** Kinds of items that a link's target number refers to. */
export const TO_CHILD = 0;
export const TO_OUTPUT = 1;
export const TO_PORT = 2;

/** Links in the order they are found; reuses its memory between levels. */
export class LinkList {
  readonly sources = new IntList();
  readonly targets = new IntList();
  readonly tensors = new IntList();
  readonly marks = new IntList();
  readonly weights = new IntList();
  readonly members = new IntList();

  /** `inSeries` marks the tensors that share a pill. */
  constructor(private readonly _inSeries: Uint8Array) {
    this._linkOf = new Int32Array(_inSeries.length);
  }

  clear(): void {
    this.sources.clear();
    this.targets.clear();
    this.tensors.clear();
    this.marks.clear();
    this.weights.clear();
    this.members.clear();
    this._counted.clear();
  }

  add(source: number, target: number, tensor: number, mark: number): void {
    this._linkOf[tensor] = this.sources.length;
    this.sources.push(source);
    this.targets.push(target);
    this.tensors.push(tensor);
    this.marks.push(mark);
    this.weights.push(1);
    this.members.push(tensor);
  }

  /**
   * Adds the link of a result, or counts it in the existing link of its series, represented by `representative`.
   */
  addResult(
    source: number,
    target: number,
    tensor: number,
    representative: number,
    mark: number
  ): void {
    const last = this._linkOf[representative];
    const isSame =
      this._inSeries[tensor] &&
      last < this.sources.length &&
      this.tensors.at(last) === representative &&
      this.marks.at(last) === mark &&
      this.sources.at(last) === source;
    if (isSame) {
      this._addTo(last, representative);
    } else {
      this.add(source, target, representative, mark);
      this.members.set(this._linkOf[representative], tensor);
    }
  }

  /** Counts a member of a series once per target, in the last link of the series. */
  count(
    member: number,
    target: number,
    representative: number,
    isNew: boolean
  ): void {
    if (this._counted.get(member) !== target) {
      this._counted.set(member, target);
      const link = this._linkOf[representative];
      if (isNew) {
        this.members.set(link, member);
      } else {
        this._addTo(link, representative);
      }
    }
  }

  /** Adds one more member of a series to a link. */
  private _addTo(link: number, representative: number): void {
    this.weights.set(link, this.weights.at(link) + 1);
    this.members.set(link, representative);
  }

  /** Last link of each tensor. */
  private readonly _linkOf: Int32Array;
  /** By member of a series: the last target it was counted for. */
  private readonly _counted = new Map<number, number>();
}
