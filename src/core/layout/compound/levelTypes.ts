import type { ILayoutInput, ILayoutResult } from '../layered/layoutTypes';
import type { IPanelGeometry } from './panelGeometry';
import type { ILevel } from '../../tree/treeTypes';

/** Ports of an open child; offsets from the panel's centre. */
export interface IChildPorts {
  /** Port of a tensor, -1 = none. */
  entering(tensor: number): number;
  leaving(tensor: number): number;
  readonly enterOffset: Float64Array;
  readonly leaveOffset: Float64Array;
}

export interface IBoxSize {
  readonly w: number;
  readonly h: number;
}

/** What assembling needs to know of the items. */
export interface IItemMeasures {
  /** Size of an item of the level. */
  size(item: number): IBoxSize;
  /** Size of a tensor's stub. */
  stub(tensor: number): IBoxSize;
  /** Ports of an open child, null for anything else. */
  ports(item: number): IChildPorts | null;
  /** See `ILayoutInput.importance`. */
  importance(item: number): number;
  /** The port where the main path comes in, as far as can be told; -1 = none. */
  readonly mainPort: number;
  /** Equal for items that take wires in the same way: nodes, closed groups, equal open groups. */
  likeness(item: number): number;
  /** Whether the item is a closed group. */
  closedGroup(item: number): boolean;
}

/** Wires of a level; `…Port` is a port of an open child at that end, -1 otherwise. */
export interface IWireTable {
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly sourcePort: Int32Array;
  readonly targetPort: Int32Array;
  readonly tensor: Int32Array;
  readonly weight: Int32Array;
  /** First link of each wire. */
  readonly link: Int32Array;
}

export interface IAssembly extends IWireTable {
  readonly input: ILayoutInput;
  /** Tensors of the stubs; stub i is item `level.itemCount + i`. */
  readonly stubs: Int32Array;
}

/**
 * A level with its positions. Everything is said along and across the flow, as in the layout; the
 * scene turns it for a picture from top to bottom.
 */
export interface IPlacedLevel extends IAssembly, IPanelGeometry {
  readonly level: ILevel;
  readonly geometry: ILayoutResult;
  readonly ports: IChildPorts;
  /** Equal for levels that share their layout. */
  readonly shape: number;
  /** Whether it is in rows, or something in it is: what it leads on leaves lower than it came in. */
  readonly falls: boolean;
}
