/** The part of the scene that has elements. */
import type { ICamera } from '../surfaceApi';
import { type IRect, type IViewSize, visibleRect } from './camera';

/** Maximum tile size as a share of the view; smaller tiles change more often but cost less each. */
const TILE_SHARE = 0.25;

/**
 * The visible rectangle extended to whole tiles of about a fifth of the view, so that small moves change
 * nothing.
 */
export function tileAlignedRect(camera: ICamera, view: IViewSize): IRect {
  const size =
    2 **
    Math.floor(
      Math.log2((TILE_SHARE * Math.max(view.w, view.h, 64)) / camera.k)
    );
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
