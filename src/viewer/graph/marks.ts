/** What is marked in the picture, kept by entity and turned into boxes of each new scene. */
import { tensorsOf } from '../../core/series';
import type { IScene, SeriesByTensor } from '../../core/types';
import type { IHover } from './api';
import { type IDecor, NO_DECOR } from './decor';
import { visibleBoxes } from './entities';

export class Marks {
  private _decor: IDecor = NO_DECOR;
  private stale = false;
  private selected: readonly number[] = [];
  private hits: readonly number[] = [];
  private hit: number | null = null;
  private hover: IHover = null;
  private hoverBox = -1;

  constructor(private readonly changed: () => void) {}

  get decor(): IDecor {
    return this._decor;
  }

  /** Whether a mark changed since the last call. */
  takeChange(): boolean {
    const { stale } = this;
    this.stale = false;
    return stale;
  }

  select(entities: readonly number[], scene: IScene | null): void {
    this.selected = entities;
    this.place(scene);
  }

  /** Search hits; `current` gets the stronger mark. */
  highlight(
    entities: readonly number[],
    current: number | null,
    scene: IScene | null
  ): void {
    this.hits = entities;
    this.hit = current;
    this.place(scene);
  }

  update(change: Partial<IDecor>): void {
    this._decor = { ...this._decor, ...change };
    this.stale = true;
    this.changed();
  }

  /** What is under the pointer, and its box; true when it is something else than before. */
  point(box: number, what: IHover, series: SeriesByTensor | null): boolean {
    const hoverBox = what?.kind === 'entity' ? box : -1;
    const same =
      what?.kind === this.hover?.kind &&
      what?.id === this.hover?.id &&
      box === this.hoverBox;
    if (!same) {
      this.hover = what;
      this.hoverBox = box;
      const hoverTensors = series ? tensorsOf(series, what) : [];
      this.update({ hoverBox, hoverTensors });
    }
    return !same;
  }

  /** Another scene, with other boxes, is there. */
  renew(scene: IScene, cursor: number): void {
    this.hover = null;
    this.update({ hoverBox: -1, hoverTensors: [], cursor });
    this.place(scene);
  }

  /** Selection and hits as boxes of the scene; what is hidden marks the group that hides it. */
  private place(scene: IScene | null): void {
    if (scene) {
      this.update({
        selection: visibleBoxes(scene, this.selected),
        hits: new Set(visibleBoxes(scene, this.hits)),
        currentHit: this.hit === null ? -1 : scene.boxOf(this.hit)
      });
    }
  }
}
