/** What is open in a view and where its picture stands: the trait, which other views of the widget share. */

import type { IViewerHandle } from '../viewer';
import type { IManagedModel } from './model';

/** What a reader does to a view. */
const USER_EVENTS = ['pointerdown', 'wheel', 'keydown'] as const;

export class ViewStateSync {
  private _told = '';
  /**
   * False from following another view until something is done to this one: two views that tell each other
   * where they stand would pull each other back.
   */
  private _leads = true;

  constructor(
    private readonly _model: IManagedModel,
    private readonly _put: (view: object) => void
  ) {}

  /** Watches what is done in `host`; the answer ends that. */
  watch(host: HTMLElement): () => void {
    const lead = (): void => this.claimLead();
    USER_EVENTS.forEach(deed => host.addEventListener(deed, lead, true));
    return () =>
      USER_EVENTS.forEach(deed => host.removeEventListener(deed, lead, true));
  }

  /** This view changes by itself from now on. */
  claimLead(): void {
    this._leads = true;
  }

  /** The view stands there now. */
  stands(view: object): void {
    if (this._leads) {
      this._told = JSON.stringify(view);
      this._put(view);
    }
  }

  /** The trait is another. Kernels send back what they are told, perhaps after the view has moved on. */
  follow(handle: IViewerHandle | null): void {
    const view = this._model.get('view');
    if (JSON.stringify(view) !== this._told) {
      this._leads = false;
      handle?.setState(view);
    }
  }
}
