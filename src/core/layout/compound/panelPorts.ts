/** Ports of open groups. */

import { firstPorts, portPlaces } from './panelGeometry';
import type { IPanelGeometry } from './panelGeometry';
import type { ILayoutResult } from '../layered/layoutTypes';
import type { IChildPorts } from './levelTypes';
import type { ILevel } from '../../tree/treeTypes';

/** The ports of a panel that has been laid out. */
export function childPorts(
  level: ILevel,
  geometry: ILayoutResult,
  panel: IPanelGeometry
): IChildPorts {
  const { entering, leaving } = firstPorts(level);
  const { portsIn, portsOut } = level;
  return {
    entering: portFinder(portsIn),
    leaving: portFinder(portsOut),
    enterOffset: portPlaces(geometry, panel, entering, portsIn.length),
    leaveOffset: portPlaces(geometry, panel, leaving, portsOut.length)
  };
}

/** Returns a function that finds a tensor's index in a list; uses a map only for long lists. */
export function portFinder(tensors: Int32Array): (tensor: number) => number {
  if (tensors.length <= 16) {
    return tensor => tensors.indexOf(tensor);
  }
  const positions = new Map<number, number>();
  tensors.forEach((tensor, i) => positions.set(tensor, i));
  return tensor => positions.get(tensor) ?? -1;
}
