/** Chooses the lower corner of the pane in which the legend covers less; rows reach into both. */

import { BoxKind, type IPane, type IScene } from '../../core/types';
import type { ICamera } from '../graph/surfaceApi';
import { toScreen } from '../graph/geometry/camera';

export type LegendCorner = 'left' | 'right';

/** Size of the legend with its margins, in pixels. */
const LEGEND = { w: 206, h: 130 };
/** Maximum ratio of the covered areas for the right corner, since users expect the legend on the left. */
const RIGHT_CORNER_RATIO = 0.6;

/** Area of cards and pills in a lower corner, in square pixels. */
function coveredIn(
  corner: LegendCorner,
  scene: IScene,
  camera: ICamera,
  view: IPane
): number {
  const left = corner === 'left' ? 0 : view.w - LEGEND.w;
  const top = view.h - LEGEND.h;
  let area = 0;
  for (let b = 0; b < scene.boxCount; b++) {
    const kind = scene.boxKind[b];
    if (kind !== BoxKind.OpenGroup && kind !== BoxKind.Port) {
      const at = toScreen(camera, view, scene.boxX[b], scene.boxY[b]);
      const right = at.x + scene.boxW[b] * camera.k;
      const bottom = at.y + scene.boxH[b] * camera.k;
      const w = Math.min(right, left + LEGEND.w) - Math.max(at.x, left);
      const h = Math.min(bottom, view.h) - Math.max(at.y, top);
      area += w > 0 && h > 0 ? w * h : 0;
    }
  }
  return area;
}

export function freerCorner(
  scene: IScene,
  camera: ICamera,
  view: IPane
): LegendCorner {
  const left = coveredIn('left', scene, camera, view);
  const right = coveredIn('right', scene, camera, view);
  return right < RIGHT_CORNER_RATIO * left ? 'right' : 'left';
}
