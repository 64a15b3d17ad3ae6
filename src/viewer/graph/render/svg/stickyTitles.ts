/** Titles of open groups, which stay in view as long as their panels do. */
import type { IScene } from '../../../../core/types';
import type { ICamera } from '../../surfaceApi';
import { CARD_PAD_X } from '../../style/metrics';
import { titleRoom } from '../../draw/titleRoom';
import type { IViewSize } from '../../geometry/camera';

/** Screen pixels per frame above which titles cannot be read while moving. */
const FAST_PX_PER_FRAME = 12;
/**
 * During fast motion, titles are placed only every so many frames, since each moved title is repainted.
 */
const FRAMES_PER_CATCH_UP = 4;

interface ITitle {
  readonly element: SVGGElement;
  readonly extent: number;
  shift: number;
}

/**
 * Offset to the right that keeps the title of an open group in view, in world units; `extent` is the end
 * of the title within its panel.
 */
export function titleShift(
  scene: IScene,
  box: number,
  camera: ICamera,
  view: IViewSize,
  extent: number
): number {
  const left = camera.x - view.w / 2 / camera.k;
  const maxShift = Math.max(0, titleRoom(scene, box) - extent - CARD_PAD_X);
  return Math.min(maxShift, Math.max(0, left - scene.boxX[box]));
}

export class StickyTitles {
  private readonly _titles = new Map<number, ITitle>();
  private _last: ICamera | null = null;
  /** Frames of fast motion since titles were last placed. */
  private _behind = 0;

  add(box: number, element: SVGGElement, extent: number): void {
    this._titles.set(box, { element, extent, shift: 0 });
  }

  drop(box: number): void {
    this._titles.delete(box);
  }

  clear(): void {
    this._titles.clear();
  }

  /** Offset of a drawn open group's title from the left side of its panel, in world units. */
  shiftOf(box: number): number {
    return this._titles.get(box)?.shift ?? 0;
  }

  /** Places the titles for a frame; `changed` means that some are new and must be painted. */
  place(
    scene: IScene,
    camera: ICamera,
    view: IViewSize,
    moving: boolean,
    changed: boolean
  ): void {
    const fast = moving && this._isFast(camera);
    this._last = camera;
    this._behind =
      fast && !changed ? (this._behind + 1) % FRAMES_PER_CATCH_UP : 0;
    if (this._behind > 0) {
      return;
    }
    for (const [box, title] of this._titles) {
      const shift = titleShift(scene, box, camera, view, title.extent);
      if (shift !== title.shift) {
        title.shift = shift;
        title.element.setAttribute('transform', `translate(${shift},0)`);
      }
    }
  }

  private _isFast(camera: ICamera): boolean {
    const { _last: last } = this;
    return (
      last !== null &&
      Math.hypot(camera.x - last.x, camera.y - last.y) * camera.k >=
        FAST_PX_PER_FRAME
    );
  }
}
