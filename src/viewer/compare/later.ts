/** A link between two views whose code is fetched when the first one is asked for. */

import type { IViewerLink } from '../api';
import { piece } from '../lazy/lazily';
import type { Session } from '../session/session';
import type { CompareLink } from './link';
import { DEFAULT_LINK, type ILinkOptions, type ILinkCallbacks } from './types';

const code = piece(async () => (await import('./link')).CompareLink);

class LaterLink implements IViewerLink {
  private _link: CompareLink | null = null;
  private _ended = false;

  constructor(
    sessions: readonly [Session, Session],
    private readonly _wish: Partial<ILinkOptions>,
    private readonly _callbacks: ILinkCallbacks
  ) {
    if (code.now) {
      this._link = new code.now(sessions, _wish, _callbacks);
      return;
    }
    code.get().then(
      Link => {
        if (!this._ended) {
          this._link = new Link(sessions, _wish, _callbacks);
        }
      },
      () => {
        for (const { store, trans } of sessions) {
          store.set({
            notice: trans.__('This part of the viewer could not be loaded.')
          });
        }
        this.end();
      }
    );
  }

  get options(): ILinkOptions {
    return this._link?.options ?? { ...DEFAULT_LINK, ...this._wish };
  }

  end(): void {
    if (this._link) {
      this._link.end();
    } else if (!this._ended) {
      this._ended = true;
      this._callbacks.onEnd?.();
    }
  }
}

/** Links two views; what one does follows in the other as soon as the code is there. */
export function linked(
  sessions: readonly [Session, Session],
  options: Partial<ILinkOptions> = {},
  callbacks: ILinkCallbacks = {}
): IViewerLink {
  return new LaterLink(sessions, options, callbacks);
}
