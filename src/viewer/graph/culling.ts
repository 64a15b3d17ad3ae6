/** What of the scene has elements, and where titles stay in view. */
import type { IScene } from '../../core/types';
import type { ICamera } from './api';
import { PAD_X } from './metrics';
import { titleRoom } from './room';
import { type IRect, type ISize, visibleRect } from './camera';

/**
 * How far the title of an open group has moved right to stay in view, in world units; `extent` is
 * where the title ends inside its panel.
 */
export function titleShift(
  scene: IScene,
  box: number,
  camera: ICamera,
  view: ISize,
  extent: number
): number {
  const left = camera.x - view.w / 2 / camera.k;
  const most = Math.max(0, titleRoom(scene, box) - extent - PAD_X);
  return Math.min(most, Math.max(0, left - scene.boxX[box]));
}

/** Largest tile as a share of the view: smaller ones come more often and cost less each. */
const TILE = 0.25;

/** The view grown to whole tiles of about a fifth of it, so that small moves change nothing. */
export function tiles(camera: ICamera, view: ISize): IRect {
  const size =
    2 **
    Math.floor(Math.log2((TILE * Math.max(view.w, view.h, 64)) / camera.k));
  const r = visibleRect(camera, view);
  const x = Math.floor(r.x / size) * size;
  const y = Math.floor(r.y / size) * size;
  return {
    x,
    y,
    w: Math.ceil((r.x + r.w) / size) * size - x,
    h: Math.ceil((r.y + r.h) / size) * size - y
  };
}

export function sameRect(a: IRect, b: IRect): boolean {
  return a.x === b.x && a.y === b.y && a.w === b.w && a.h === b.h;
}
