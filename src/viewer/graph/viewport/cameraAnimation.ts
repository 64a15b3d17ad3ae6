/** Animates the camera and the boxes, unless reduced motion is requested. */
import type { IScene } from '../../../core/types';
import type { ICamera } from '../surfaceApi';
import { interpolateCamera } from '../geometry/camera';

export const ANIMATION_MS = 180;

/** Runs one camera animation at a time. */
export class CameraAnimation {
  private _handle = 0;

  constructor(
    private readonly _apply: (camera: ICamera) => void,
    private readonly _reduced: () => boolean
  ) {}

  start(from: ICamera, to: ICamera, animate: boolean): void {
    this.stop();
    if (!animate || this._reduced()) {
      this._apply(to);
      return;
    }
    const start = performance.now();
    const step = (now: number): void => {
      const t = Math.min(1, Math.max(0, (now - start) / ANIMATION_MS));
      // Ease out: a fast start, so that a click feels immediate.
      this._apply(interpolateCamera(from, to, 1 - (1 - t) ** 3));
      this._handle = t < 1 ? requestAnimationFrame(step) : 0;
    };
    this._handle = requestAnimationFrame(step);
  }

  stop(): void {
    cancelAnimationFrame(this._handle);
    this._handle = 0;
  }
}

/**
 * Animates each drawn box from its screen position in the old scene to its new one; new boxes fade in.
 */
export function animateBoxes(
  elements: ReadonlyMap<number, SVGGElement>,
  before: { scene: IScene; camera: ICamera },
  after: { scene: IScene; camera: ICamera }
): void {
  for (const [box, element] of elements) {
    if (typeof element.animate !== 'function') {
      return;
    }
    const x = after.scene.boxX[box];
    const y = after.scene.boxY[box];
    const old = sameBox(before.scene, after.scene, box);
    const options = {
      duration: ANIMATION_MS,
      easing: 'cubic-bezier(.2,.7,.3,1)'
    };
    if (old < 0) {
      element.animate([{ opacity: 0 }, { opacity: 1 }], options);
      continue;
    }
    const dx = before.scene.boxX[old] - before.camera.x + after.camera.x - x;
    const dy = before.scene.boxY[old] - before.camera.y + after.camera.y - y;
    if (Math.abs(dx) + Math.abs(dy) > 0.5) {
      element.animate(
        [
          { transform: `translate(${x + dx}px, ${y + dy}px)` },
          { transform: `translate(${x}px, ${y}px)` }
        ],
        options
      );
    }
  }
}

/** The old box of the same kind and entity; -1 if there is none. */
function sameBox(before: IScene, after: IScene, box: number): number {
  const entity = after.boxEntity[box];
  const kind = after.boxKind[box];
  if (kind > 2) {
    return -1;
  }
  const old = before.boxOf(entity);
  return old >= 0 &&
    before.boxEntity[old] === entity &&
    before.boxKind[old] === kind
    ? old
    : -1;
}

/** Milliseconds without movement after which the camera is at rest. */
const IDLE_MS = 140;

/** Tracks whether the camera moves, and reports when it comes to rest. */
export class MotionTracker {
  private _timer: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly _changed: (moving: boolean) => void) {}

  get moving(): boolean {
    return this._timer !== null;
  }

  noteMotion(): void {
    if (this._timer) {
      clearTimeout(this._timer);
    } else {
      this._changed(true);
    }
    this._timer = setTimeout(() => {
      this._timer = null;
      this._changed(false);
    }, IDLE_MS);
  }

  stop(): void {
    if (this._timer) {
      clearTimeout(this._timer);
      this._timer = null;
    }
  }
}
