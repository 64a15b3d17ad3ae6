/** Keeps what the reader looks at in view: where the camera goes, and what panels cover of it. */

import type { GraphSurface } from '../graph/surface';

/** What the picture shows and what of it is selected. */
export interface IFollowedPicture {
  readonly surface: GraphSurface | null;
  selected(): number | null;
}

export class SelectionFollower {
  /** How many pixels panels cover: positive on the right, negative on the left. */
  private _covered = 0;
  /** The entity that the view was moved to last. */
  private _followed: number | null = null;

  constructor(private readonly _picture: IFollowedPicture) {}

  /** Brings the entity, or the closed group that holds it, to the middle of what no panel covers. */
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

  /** The entity is about to be brought to the middle. */
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
   * The middle of the view moved by so many pixels because a panel opened or closed: the picture
   * stays where it is on the screen, so that the second click of a double click meets its box. What
   * was just brought to the middle stays there.
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
