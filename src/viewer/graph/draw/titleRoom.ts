/** Free width of a panel's title bar: wires that enter from above pass through it. */
import { BoxKind, type IScene } from '../../../core/types';

const titleRooms = new WeakMap<IScene, Float64Array>();
/** Gap between the end of a title and the first wire. */
const WIRE_GAP = 4;

function measureRooms(scene: IScene): Float64Array {
  const maxWidths = scene.boxW.slice();
  if (scene.direction === 'right') {
    return maxWidths;
  }
  for (let b = 0; b < scene.boxCount; b++) {
    const panel = scene.boxParent[b];
    if (scene.boxKind[b] !== BoxKind.Port || panel < 0) {
      continue;
    }
    const middle = scene.boxY[b] + scene.boxH[b] / 2;
    if (middle - scene.boxY[panel] < scene.boxH[panel] / 2) {
      const x = scene.boxX[b] - scene.boxX[panel] - WIRE_GAP;
      maxWidths[panel] = Math.min(maxWidths[panel], Math.max(0, x));
    }
  }
  return maxWidths;
}

/** Width of the title bar of an open group up to the first wire that enters through it. */
export function titleRoom(scene: IScene, box: number): number {
  let maxWidths = titleRooms.get(scene);
  if (!maxWidths) {
    maxWidths = measureRooms(scene);
    titleRooms.set(scene, maxWidths);
  }
  return maxWidths[box];
}
