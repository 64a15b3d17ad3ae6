import type { ILayoutInput, ILayoutResult } from '../layered/layoutTypes';
import type { IPanelGeometry } from './panelGeometry';
import type { ILevel } from '../../tree/treeTypes';

/** Ports of an open child; offsets are from the panel's centre. */
export interface IChildPorts {
  /** Port of a tensor; -1 if there is none. */
  entering(tensor: number): number;
  leaving(tensor: number): number;
  readonly enterOffset: Float64Array;
  readonly leaveOffset: Float64Array;
}

export interface IBoxSize {
  readonly w: number;
  readonly h: number;
}

/** Measures of the items that are needed to build a level graph. */
export interface IItemMeasures {
  /** Size of an item of the level. */
  size(item: number): IBoxSize;
  /** Size of a tensor's connector. */
  stub(tensor: number): IBoxSize;
  /** Ports of an open child; null for any other item. */
  ports(item: number): IChildPorts | null;
  /** See `ILayoutInput.importance`. */
  importance(item: number): number;
  /** The port where the main path probably enters; -1 if there is none. */
  readonly mainPort: number;
  /** Equal for items that connect to wires alike: nodes, collapsed groups, equal open groups. */
  connectionKind(item: number): number;
  /** True if the item is a collapsed group. */
  closedGroup(item: number): boolean;
}

/** Wires of a level; `…Port` is the port if that end is an open child, else -1. */
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
  /** Tensors of the connectors; connector i is item `level.itemCount + i`. */
  readonly stubs: Int32Array;
}

/**
 * A level with its positions, in coordinates along and across the flow as in the layout; the scene
 * transposes them for a graph from top to bottom.
 */
export interface IPlacedLevel extends IAssembly, IPanelGeometry {
  readonly level: ILevel;
  readonly geometry: ILayoutResult;
  readonly ports: IChildPorts;
  /** Equal for levels that share their layout. */
  readonly shape: number;
  /** True if the level or one inside it is in rows: its main path then leaves lower than it entered. */
  readonly falls: boolean;
}
