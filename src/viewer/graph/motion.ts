/** Moving the camera and the boxes; nothing moves when the reader asked for less motion. */
import type { IScene } from '../../core/types';
import type { ICamera } from './api';
import { between } from './camera';

export const DURATION = 180;

/** Runs one camera flight at a time. */
export class Flight {
  private handle = 0;

  constructor(
    private readonly apply: (camera: ICamera) => void,
    private readonly reduced: () => boolean
  ) {}

  go(from: ICamera, to: ICamera, animate: boolean): void {
    this.stop();
    if (!animate || this.reduced()) {
      this.apply(to);
      return;
    }
    const start = performance.now();
    const step = (now: number): void => {
      const t = Math.min(1, Math.max(0, (now - start) / DURATION));
      // Ease out: quick to start, so that a click feels answered.
      this.apply(between(from, to, 1 - (1 - t) ** 3));
      this.handle = t < 1 ? requestAnimationFrame(step) : 0;
    };
    this.handle = requestAnimationFrame(step);
  }

  stop(): void {
    cancelAnimationFrame(this.handle);
    this.handle = 0;
  }
}

/**
 * Starts each drawn box where it was on the screen in the old scene and lets it glide to its new
 * place; boxes that are new fade in.
 */
export function glide(
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
    const options = { duration: DURATION, easing: 'cubic-bezier(.2,.7,.3,1)' };
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

/** The old box of the same kind and entity, -1 = none. */
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

/** The picture rests when the camera has not moved for so long. */
const REST = 140;

/** Knows whether the camera moves, and tells when it comes to rest. */
export class Rest {
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly changed: (moving: boolean) => void) {}

  get moving(): boolean {
    return this.timer !== null;
  }

  touch(): void {
    if (this.timer) {
      clearTimeout(this.timer);
    } else {
      this.changed(true);
    }
    this.timer = setTimeout(() => {
      this.timer = null;
      this.changed(false);
    }, REST);
  }

  stop(): void {
    if (this.timer) {
      clearTimeout(this.timer);
      this.timer = null;
    }
  }
}
