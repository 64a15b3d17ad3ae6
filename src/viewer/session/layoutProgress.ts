/** Layouts that take long: the state tells how far they are, and the reader can stop them. */

import type { IGraphView } from '../../core/types';
import type { IStore } from '../state/store';
import type { IViewerState } from '../state/types';

/** Before this, in milliseconds, a reader does not wait. */
const PROGRESS_DELAY_MS = 250;

export class LayoutProgress {
  private _last = 0;
  private _view: IGraphView | null = null;
  private _timer: ReturnType<typeof setTimeout> | null = null;
  /** What brings back the picture that is on screen. */
  private _undo: () => void = () => undefined;

  constructor(private readonly _store: IStore<IViewerState>) {}

  /**
   * Waits for work of the view; `undo` has it show what it showed before. Answers whether nothing
   * came after it: a view answers what was overtaken with the last one's scene, and late.
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
      const tell = (layoutProgress: number): void =>
        this._store.set({ layoutProgress });
      this._timer = setTimeout(() => {
        tell(0);
        view.onProgress = tell;
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

  /** Stops what takes long; false where nothing does. */
  cancel(): boolean {
    const long = this._store.get().layoutProgress !== null;
    if (long) {
      this._undo();
    }
    return long;
  }

  /** Nothing is waited for any more. */
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
