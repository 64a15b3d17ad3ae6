/** Keeps the selection in view: moves the camera, taking panels over the graph into account. */

import type { GraphSurface } from '../graph/surface';

/** The graph and its selection. */
export interface IFollowedGraph {
  readonly surface: GraphSurface | null;
  selected(): number | null;
}

export class SelectionFollower {
  /** Width in pixels covered by panels: positive on the right, negative on the left. */
  private _covered = 0;
  /** The last entity that was centred. */
  private _followed: number | null = null;

  constructor(private readonly _picture: IFollowedGraph) {}

  /** Centres the entity, or the collapsed group that contains it, in the part not covered by panels. */
  centerOn(entity: number): void {
    this._followed = entity;
    const { surface } = this._picture;
    if (!surface) {
      return;
    }
    if (this._covered === 0) {
      surface.zoomTo(entity, true);
      return;
    }
    const from = surface.camera;
    surface.zoomTo(entity, false);
    const to = surface.camera;
    surface.setCamera(from, false);
    const x = to.x + this._covered / 2 / to.k;
    surface.setCamera({ ...to, x }, true);
  }

  /** Announces that the entity will be centred. */
  willCenterOn(entity: number): void {
    this._followed = entity;
  }

  setOccludedWidth(pixels: number): void {
    const changed = pixels !== this._covered;
    this._covered = pixels;
    const entity = this._picture.selected();
    if (changed && pixels !== 0 && entity !== null) {
      this.centerOn(entity);
    }
  }

  /**
   * Called when the middle of the view moved by some pixels because a panel opened or closed: the graph
   * stays in place on the screen, so that the second click of a double-click hits its box. An entity that
   * was just centred stays centred.
   */
  onPaneShift(pixels: number): void {
    const { surface } = this._picture;
    const entity = this._picture.selected();
    if (entity !== null && entity === this._followed) {
      this.centerOn(entity);
    } else if (surface) {
      const { x, y, k } = surface.camera;
      surface.setCamera({ x: x + pixels / k, y, k }, false);
    }
  }
}
