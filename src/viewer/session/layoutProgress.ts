/** Tracks long layouts: publishes their progress, and lets the user stop them. */

import type { IGraphView } from '../../core/types';
import type { IStore } from '../state/store';
import type { IViewerState } from '../state/types';

/** Milliseconds before a layout counts as long. */
const PROGRESS_DELAY_MS = 250;

export class LayoutProgress {
  private _last = 0;
  private _view: IGraphView | null = null;
  private _timer: ReturnType<typeof setTimeout> | null = null;
  /** Restores the graph on screen. */
  private _undo: () => void = () => undefined;

  constructor(private readonly _store: IStore<IViewerState>) {}

  /**
   * Tracks work of the view; `undo` restores the current graph. Resolves to false if later work replaced
   * it: the view answers such work late, with the last one's scene.
   */
  async track(
    view: IGraphView,
    work: () => Promise<unknown>,
    undo: () => void
  ): Promise<boolean> {
    const mine = ++this._last;
    if (this._view !== view) {
      this.end();
      this._view = view;
      this._undo = undo;
      const report = (layoutProgress: number): void =>
        this._store.set({ layoutProgress });
      this._timer = setTimeout(() => {
        report(0);
        view.onProgress = report;
      }, PROGRESS_DELAY_MS);
    }
    try {
      await work();
      return mine === this._last;
    } finally {
      if (mine === this._last) {
        this.end();
      }
    }
  }

  /** Stops a long layout; returns false if there is none. */
  cancel(): boolean {
    const long = this._store.get().layoutProgress !== null;
    if (long) {
      this._undo();
    }
    return long;
  }

  /** Stops tracking. */
  end(): void {
    if (this._timer !== null) {
      clearTimeout(this._timer);
    }
    if (this._view) {
      this._view.onProgress = null;
    }
    this._timer = null;
    this._view = null;
    if (this._store.get().layoutProgress !== null) {
      this._store.set({ layoutProgress: null });
    }
  }
}
