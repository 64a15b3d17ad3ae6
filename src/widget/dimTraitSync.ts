/**
 * Synchronises the trait of a widget's symbolic dimensions, which other widgets may set, with the viewer.
 */

import type { IViewerHandle } from '../viewer';
import type { IManagedModel } from './model';
import { sameSizes, type TraitSizes } from './provider';

export class DimTraitSync {
  private _base: TraitSizes = {};
  private _shown: TraitSizes = {};
  private _resizing = false;
  private _hasChanged = false;

  constructor(
    private readonly _model: IManagedModel,
    private readonly _put: (sizes: TraitSizes) => void,
    private readonly _isLive: () => boolean
  ) {}

  /** A new model is shown, analysed with these sizes. */
  start(base: TraitSizes): void {
    this._base = this._shown = base;
  }

  /** The viewer now shows these sizes. */
  onShown(sizes: TraitSizes): void {
    this._shown = sizes;
    // While sizes from outside are being applied, the trait is ahead of the view.
    const ahead = this._resizing || this._model.get('_fixed') === true;
    if (!ahead && !sameSizes({ ...this._base, ...this._given() }, sizes)) {
      this._put(sizes);
    }
  }

  /** Applies the trait; of several successive changes, the last one counts. */
  async follow(handle: () => IViewerHandle | null): Promise<void> {
    this._hasChanged = true;
    if (this._resizing) {
      return;
    }
    this._resizing = true;
    try {
      while (this._hasChanged) {
        this._hasChanged = false;
        await this._applyTrait(handle());
      }
    } finally {
      this._resizing = false;
    }
  }

  private async _applyTrait(handle: IViewerHandle | null): Promise<void> {
    const bindings = { ...this._shown, ...this._given() };
    if (!handle || sameSizes(bindings, this._shown)) {
      return;
    }
    if (await handle.preview(bindings)) {
      this._shown = bindings;
    } else if (this._isLive() && this._model.get('_fixed') !== true) {
      this._shown = bindings;
      handle.bind(bindings);
    } else {
      // The numbers for these sizes cannot be computed: keep the ones that are shown.
      this._put(this._shown);
    }
  }

  private _given(): TraitSizes {
    return (this._model.get('dims') ?? {}) as TraitSizes;
  }
}
