/** Synchronises the state and camera of a view with the trait, which other views of the widget share. */

import type { IViewerHandle } from '../viewer';
import type { IManagedModel } from './model';

/** Events by which a user acts on a view. */
const USER_EVENTS = ['pointerdown', 'wheel', 'keydown'] as const;

export class ViewStateSync {
  /** The state last published or followed, as text. */
  private _known = '';
  /**
   * False after following another view until the user acts on this one: two views that both publish their
   * cameras would pull each other back.
   */
  private _isLeader = true;

  constructor(
    private readonly _model: IManagedModel,
    private readonly _put: (view: object) => void
  ) {}

  /** Watches user actions in `host`; the returned function stops that. */
  watch(host: HTMLElement): () => void {
    const claim = (): void => this.claimLead();
    USER_EVENTS.forEach(event => host.addEventListener(event, claim, true));
    return () =>
      USER_EVENTS.forEach(event =>
        host.removeEventListener(event, claim, true)
      );
  }

  /** From now on, this view publishes its changes. */
  claimLead(): void {
    this._isLeader = true;
  }

  /** The view is created with the trait. */
  start(): void {
    this._known = JSON.stringify(this._model.get('view'));
  }

  /** Publishes the current state of the view. */
  publish(view: object): void {
    if (this._isLeader) {
      this._known = JSON.stringify(view);
      this._put(view);
    }
  }

  /**
   * Applies a changed trait. Kernels echo what another view of the widget has published, perhaps after
   * this one has moved on or Python has selected something: a state is followed once.
   */
  follow(handle: IViewerHandle | null): void {
    const view = this._model.get('view');
    const text = JSON.stringify(view);
    if (text !== this._known) {
      this._known = text;
      this._isLeader = false;
      handle?.setState(view);
    }
  }
}
