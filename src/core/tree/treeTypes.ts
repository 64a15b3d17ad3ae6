import type { ICsrRows } from '../base/csr';
import type { ITree } from '../types';

/**
 * The tree with what layout needs. Groups are numbered in pre-order, so a parent's id is smaller
 * than its children's, and the nodes below group g are `nodeOrder[groupStart[g] … groupEnd[g])`.
 */
export interface IGroupTree extends ITree {
  readonly nodeOrder: Int32Array;
  /** Position of each node in `nodeOrder`; -1 for Constant nodes. */
  readonly nodePosition: Int32Array;
  readonly groupStart: Int32Array;
  readonly groupEnd: Int32Array;
  /** Graph id of the subgraph that the group stands for; -1 otherwise. */
  readonly groupBody: Int32Array;
  /** Control-flow node that the group stands for; -1 otherwise. */
  readonly groupControl: Int32Array;
  /**
   * Tensors drawn into each node: each input with a drawn source once, and for a control-flow node the
   * results of its subgraphs.
   */
  readonly reads: ICsrRows;
  /** First and last position that reads a tensor; model outputs are read at `nodeOrder.length`. */
  readonly firstRead: Int32Array;
  readonly lastRead: Int32Array;
  /** Group that shows an input's pill; -1 is the root. Inputs of a subgraph are shown in the subgraph. */
  readonly inputPillGroup: Int32Array;
  /** Model outputs by the group that shows their pills; -1 is the root. */
  readonly outputsOf: ReadonlyMap<number, readonly number[]>;
}

/** End of a wire that led to or from a hidden child. */
export interface IHiddenLink {
  /** The item at the visible end of the wire. */
  readonly item: number;
  readonly tensor: number;
  /** True if the tensor enters the item. */
  readonly enters: boolean;
}

/**
 * Tensors that share a pill (see `tensorSeries.ts`) count as one tensor here, the first of them. Items
 * are numbered in this order: children, inputs, outputs, entering ports, leaving ports.
 */
export interface ILevel {
  /** -1 is the root. */
  readonly group: number;
  /** Entities. */
  readonly children: Int32Array;
  /** Tensors with a pill here: model inputs, or formal inputs of a subgraph. */
  readonly inputs: Int32Array;
  /** Model outputs with a pill here. */
  readonly outputs: Int32Array;
  /** Tensors produced outside and read inside. */
  readonly portsIn: Int32Array;
  /** Tensors produced inside and read outside. */
  readonly portsOut: Int32Array;
  readonly itemCount: number;
  /** One link per tensor and pair of items. */
  readonly linkSource: Int32Array;
  readonly linkTarget: Int32Array;
  readonly linkTensor: Int32Array;
  /** Number of tensors of a series that the link stands for; 1 for any other link. */
  readonly linkWeight: Int32Array;
  /** The member of the series, if the link stands for only one; the tensor itself for any other link. */
  readonly linkMember: Int32Array;
  /** Present if some children are hidden; see `removeHidden`. */
  readonly hiddenLinks?: readonly IHiddenLink[];
  /** Present if some children are chips on others: entity of the host, by entity of the chip. */
  readonly chips?: ReadonlyMap<number, number>;
}
