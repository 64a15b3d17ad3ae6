/** Decorations by entity, resolved to the boxes of each new scene. */
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

  /** Returns and resets whether a decoration has changed. */
  consumeChange(): boolean {
    const { _stale: stale } = this;
    this._stale = false;
    return stale;
  }

  select(entities: readonly number[], scene: IScene | null): void {
    this._selected = entities;
    this._resolveBoxes(scene);
  }

  /** Search matches; `current` gets the stronger mark. */
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

  /** Sets the hovered target and its box; returns true if it changed. */
  setHover(
    box: number,
    target: IHitTarget,
    series: SeriesByTensor | null
  ): boolean {
    const hoverBox = target?.kind === 'entity' ? box : -1;
    const isSame =
      target?.kind === this._hover?.kind &&
      target?.id === this._hover?.id &&
      box === this._hoverBox;
    if (!isSame) {
      this._hover = target;
      this._hoverBox = box;
      const hoverTensors = series ? tensorIdsOf(series, target) : [];
      this.update({ hoverBox, hoverTensors });
    }
    return !isSame;
  }

  /** Resets and resolves everything for a new scene with other boxes. */
  onSceneChange(scene: IScene, cursor: number): void {
    this._hover = null;
    this.update({ hoverBox: -1, hoverTensors: [], cursor });
    this._resolveBoxes(scene);
  }

  /**
   * Resolves selection and matches to boxes of the scene; a hidden entity marks the group that hides it.
   */
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
