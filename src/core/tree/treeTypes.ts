import type { ICsrRows } from '../base/csr';
import type { ITree } from '../types';

/**
 * The tree with what layout needs. Groups are numbered in pre-order, so a parent's id is smaller
 * than its children's, and the nodes below group g are `nodeOrder[groupStart[g] … groupEnd[g])`.
 */
export interface IGroupTree extends ITree {
  readonly nodeOrder: Int32Array;
  /** Place of each node in `nodeOrder`, -1 for Constant nodes. */
  readonly nodePlace: Int32Array;
  readonly groupStart: Int32Array;
  readonly groupEnd: Int32Array;
  /** Graph id of the body the group stands for, -1 otherwise. */
  readonly groupBody: Int32Array;
  /** Control-flow node the group stands for, -1 otherwise. */
  readonly groupControl: Int32Array;
  /**
   * Tensors drawn into each node: its inputs that have a drawn source, each once, and for a
   * control-flow node the results of its bodies.
   */
  readonly reads: ICsrRows;
  /** First and last place that reads a tensor; a model output reads at `nodeOrder.length`. */
  readonly firstRead: Int32Array;
  readonly lastRead: Int32Array;
  /** Group that shows an input's pill: -1 = root; a body's inputs stand in the body. */
  readonly inputHome: Int32Array;
  /** Model outputs by the group that shows their pills, -1 = root. */
  readonly outputsOf: ReadonlyMap<number, readonly number[]>;
}

/** Where a wire led to, or came from, a hidden child. */
export interface IHiddenLink {
  /** The item at the wire's visible end. */
  readonly item: number;
  readonly tensor: number;
  /** Whether the tensor comes into the item. */
  readonly enters: boolean;
}

/**
 * Tensors that share a pill (see `series.ts`) are one tensor here, the first of them.
 * Items are numbered children, inputs, outputs, entering ports, leaving ports, in this order.
 */
export interface ILevel {
  /** -1 = root. */
  readonly group: number;
  /** Entities. */
  readonly children: Int32Array;
  /** Tensors with a pill here: model inputs, or a body's formal inputs. */
  readonly inputs: Int32Array;
  /** Model outputs with a pill here. */
  readonly outputs: Int32Array;
  /** Tensors made outside and read inside. */
  readonly portsIn: Int32Array;
  /** Tensors made inside and read outside. */
  readonly portsOut: Int32Array;
  readonly itemCount: number;
  /** One link for each tensor and pair of items. */
  readonly linkSource: Int32Array;
  readonly linkTarget: Int32Array;
  readonly linkTensor: Int32Array;
  /** Tensors of a series that the link stands for; 1 for any other. */
  readonly linkWeight: Int32Array;
  /** The member of the series, where the link stands for one alone; its tensor for any other. */
  readonly linkMember: Int32Array;
  /** Present when some children are hidden: see `removeHidden`. */
  readonly hiddenLinks?: readonly IHiddenLink[];
  /** Present when some children are chips on others: entity of the host by that of the chip. */
  readonly chips?: ReadonlyMap<number, number>;
}
