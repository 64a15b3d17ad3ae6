/** Pans and zooms one view along with the other, by the same amount. */

import { otherSide, SIDES, type Side } from '../../core/matching/matchers';
import { sameCamera, type IViewSize } from '../graph/geometry/camera';
import type { ICamera } from '../graph/surfaceApi';
import type { Session } from '../session/session';

/** Milliseconds after a selection during which the views move independently. */
const PAUSE_MS = 450;

interface IViewCamera {
  readonly camera: ICamera;
  readonly view: IViewSize;
}

export class CameraSync {
  private readonly _lastCameras: [IViewCamera | null, IViewCamera | null] = [
    null,
    null
  ];
  private _pausedUntil = 0;

  constructor(private readonly _sessions: readonly [Session, Session]) {}

  /** Takes both cameras as the new baseline; with `from`, the other view first gets its zoom. */
  captureBaseline(from?: Side): void {
    const camera =
      from === undefined ? null : this._sessions[from].graph.camera;
    if (from !== undefined && camera) {
      const { surface } = this._sessions[otherSide(from)].graph;
      surface?.setCamera({ ...surface.camera, k: camera.k }, false);
    }
    SIDES.forEach(side => this._look(side));
  }

  /** Pauses while each view reveals a selection on its own. */
  pause(): void {
    this._pausedUntil = performance.now() + PAUSE_MS;
  }

  copyFrom(side: Side): void {
    const before = this._lastCameras[side];
    const now = this._look(side);
    const to = otherSide(side);
    const { surface } = this._sessions[to].graph;
    const isMoved =
      before && now && !sameCamera(before.camera, now.camera) && surface;
    // A resized view fits its graph again; that is not a move by the user.
    const resized =
      before?.view.w !== now?.view.w || before?.view.h !== now?.view.h;
    if (!isMoved || resized || performance.now() < this._pausedUntil) {
      return;
    }
    const { x, y, k } = surface.camera;
    const zoom = now.camera.k / before.camera.k;
    // The same distance on the screen: a pixel is another length at another zoom.
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

  private _look(side: Side): IViewCamera | null {
    const { surface } = this._sessions[side].graph;
    this._lastCameras[side] = surface
      ? { camera: surface.camera, view: surface.view }
      : null;
    return this._lastCameras[side];
  }
}
