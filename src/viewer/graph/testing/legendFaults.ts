/** Checks what a legend of the usual size covers. */
import {
  type Corner,
  cornerRect,
  type IDockView,
  chooseDock
} from '../viewport/cornerDocks';
import { someChord } from '../geometry/wirePath';
import { LABELS_FROM } from '../style/levelOfDetail';
import { visibleRect } from '../geometry/camera';
import type { WireLabels } from '../labels/wireLabels';

const CORNERS: readonly Corner[] = [
  'bottom-left',
  'bottom-right',
  'top-left',
  'top-right'
];
const FULL_SIZE = { w: 208, h: 124 };
const SLIM_SIZE = { w: 232, h: 20 };

/** Boxes, wires and labels under the legend in its initial position. */
export function legendFaults(dockView: IDockView & { labels: WireLabels }): {
  legendOn: string[];
  slim: boolean;
} {
  const guest = {
    corners: CORNERS,
    rank: 0,
    slim: SLIM_SIZE,
    size: () => FULL_SIZE,
    place: () => undefined
  };
  const { corner, slim } = chooseDock(dockView, guest, [], null);
  const { scene, camera, view, labels } = dockView;
  const visible = visibleRect(camera, view);
  const rect = slim
    ? cornerRect(corner, SLIM_SIZE, view, 2)
    : cornerRect(corner, FULL_SIZE, view, 10);
  const r = {
    x: visible.x + rect.x / camera.k,
    y: visible.y + rect.y / camera.k,
    w: rect.w / camera.k,
    h: rect.h / camera.k
  };
  const covered: string[] = [];
  for (let b = 0; b < scene.boxCount; b++) {
    const [x, y] = [scene.boxX[b], scene.boxY[b]];
    const h = scene.boxKind[b] === 2 ? 26 : scene.boxH[b];
    if (
      x < r.x + r.w &&
      x + scene.boxW[b] > r.x &&
      y < r.y + r.h &&
      y + h > r.y
    ) {
      covered.push(`box ${b}`);
    }
  }
  for (let e = 0; e < scene.edgeCount; e++) {
    for (let i = scene.edgeOffsets[e]; i + 1 < scene.edgeOffsets[e + 1]; i++) {
      const hit = someChord(scene, i, (ax, ay, bx, by) => {
        for (let t = 0; t <= 1; t += 0.01) {
          const [x, y] = [ax + (bx - ax) * t, ay + (by - ay) * t];
          if (x > r.x && x < r.x + r.w && y > r.y && y < r.y + r.h) {
            return true;
          }
        }
        return false;
      });
      if (hit) {
        covered.push(`wire ${e}`);
        break;
      }
    }
  }
  const texts = camera.k >= LABELS_FROM ? labels.in(r) : [];
  return { legendOn: [...covered, ...texts.map(label => label.text)], slim };
}
