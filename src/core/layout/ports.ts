/** Where tensors enter and leave an open group. */

import type { ILevel } from '../levels';
import { firstPorts, portPlaces } from './panels';
import type { IPanelGeometry } from './panels';
import type { ILayoutResult } from './types';
import type { IChildPorts } from './levelTypes';

/** The ports of a laid out panel. */
export function portsOf(
  level: ILevel,
  geometry: ILayoutResult,
  panel: IPanelGeometry
): IChildPorts {
  const { entering, leaving } = firstPorts(level);
  const { portsIn, portsOut } = level;
  return {
    entering: finder(portsIn),
    leaving: finder(portsOut),
    enterOffset: portPlaces(geometry, panel, entering, portsIn.length),
    leaveOffset: portPlaces(geometry, panel, leaving, portsOut.length)
  };
}

/** Finds a tensor's place in a list; only long lists are worth a map. */
export function finder(tensors: Int32Array): (tensor: number) => number {
  if (tensors.length <= 16) {
    return tensor => tensors.indexOf(tensor);
  }
  const places = new Map<number, number>();
  tensors.forEach((tensor, i) => places.set(tensor, i));
  return tensor => places.get(tensor) ?? -1;
}
