/** What is marked in the picture, kept by entity and turned into boxes of each new scene. */
import { tensorIdsOf } from '../../../../core/tree/tensorSeries';
import type { IScene, SeriesByTensor } from '../../../../core/types';
import type { IHitTarget } from '../../surfaceApi';
import { type IDecorations, NO_DECORATIONS } from './decorationLayer';
import { visibleBoxes } from '../../scene/entityBoxes';

export class DecorationModel {
  private _decorations: IDecorations = NO_DECORATIONS;
  private _stale = false;
  private _selected: readonly number[] = [];
  private _hits: readonly number[] = [];
  private _hit: number | null = null;
  private _hover: IHitTarget = null;
  private _hoverBox = -1;

  constructor(private readonly _changed: () => void) {}

  get decorations(): IDecorations {
    return this._decorations;
  }

  /** Whether a mark changed since the last call. */
  consumeChange(): boolean {
    const { _stale: stale } = this;
    this._stale = false;
    return stale;
  }

  select(entities: readonly number[], scene: IScene | null): void {
    this._selected = entities;
    this._resolveBoxes(scene);
  }

  /** Search hits; `current` gets the stronger mark. */
  highlight(
    entities: readonly number[],
    current: number | null,
    scene: IScene | null
  ): void {
    this._hits = entities;
    this._hit = current;
    this._resolveBoxes(scene);
  }

  update(change: Partial<IDecorations>): void {
    this._decorations = { ...this._decorations, ...change };
    this._stale = true;
    this._changed();
  }

  /** What is under the pointer, and its box; true when it is something else than before. */
  setHover(
    box: number,
    what: IHitTarget,
    series: SeriesByTensor | null
  ): boolean {
    const hoverBox = what?.kind === 'entity' ? box : -1;
    const same =
      what?.kind === this._hover?.kind &&
      what?.id === this._hover?.id &&
      box === this._hoverBox;
    if (!same) {
      this._hover = what;
      this._hoverBox = box;
      const hoverTensors = series ? tensorIdsOf(series, what) : [];
      this.update({ hoverBox, hoverTensors });
    }
    return !same;
  }

  /** Another scene, with other boxes, is there. */
  onSceneChange(scene: IScene, cursor: number): void {
    this._hover = null;
    this.update({ hoverBox: -1, hoverTensors: [], cursor });
    this._resolveBoxes(scene);
  }

  /** Selection and hits as boxes of the scene; what is hidden marks the group that hides it. */
  private _resolveBoxes(scene: IScene | null): void {
    if (scene) {
      this.update({
        selection: visibleBoxes(scene, this._selected),
        hits: new Set(visibleBoxes(scene, this._hits)),
        currentHit: this._hit === null ? -1 : scene.boxOf(this._hit)
      });
    }
  }
}
