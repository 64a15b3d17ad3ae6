/** Moving and zooming one view moves and zooms the other by as much. */

import { otherSide, SIDES, type Side } from '../../core/matching/matchers';
import { sameCamera, type IViewSize } from '../graph/geometry/camera';
import type { ICamera } from '../graph/surfaceApi';
import type { Session } from '../session/session';

/** For so long after a selection the views fly on their own, in milliseconds. */
const PAUSE_MS = 450;

interface ISeen {
  readonly camera: ICamera;
  readonly view: IViewSize;
}

export class CameraSync {
  private readonly _seen: [ISeen | null, ISeen | null] = [null, null];
  private _quietUntil = 0;

  constructor(private readonly _sessions: readonly [Session, Session]) {}

  /** Takes both cameras as they are; with `from`, the other view gets its zoom first. */
  captureBaseline(from?: Side): void {
    const lead = from === undefined ? null : this._sessions[from].graph.camera;
    if (from !== undefined && lead) {
      const { surface } = this._sessions[otherSide(from)].graph;
      surface?.setCamera({ ...surface.camera, k: lead.k }, false);
    }
    SIDES.forEach(side => this._look(side));
  }

  /** Each view shows a selection in its own way. */
  pause(): void {
    this._quietUntil = performance.now() + PAUSE_MS;
  }

  follow(side: Side): void {
    const before = this._seen[side];
    const now = this._look(side);
    const to = otherSide(side);
    const { surface } = this._sessions[to].graph;
    const moved =
      before && now && !sameCamera(before.camera, now.camera) && surface;
    // A view of another size fits its picture anew; that is not a move of the reader's.
    const resized =
      before?.view.w !== now?.view.w || before?.view.h !== now?.view.h;
    if (!moved || resized || performance.now() < this._quietUntil) {
      return;
    }
    const { x, y, k } = surface.camera;
    const zoom = now.camera.k / before.camera.k;
    // The same way on the screen: a pixel is another length where the zoom is another.
    const pixels = now.camera.k / (k * zoom);
    surface.setCamera(
      {
        x: x + (now.camera.x - before.camera.x) * pixels,
        y: y + (now.camera.y - before.camera.y) * pixels,
        k: k * zoom
      },
      false
    );
    this._look(to);
  }

  private _look(side: Side): ISeen | null {
    const { surface } = this._sessions[side].graph;
    this._seen[side] = surface
      ? { camera: surface.camera, view: surface.view }
      : null;
    return this._seen[side];
  }
}
