/** A link between two views whose code is loaded lazily. */

import type { IViewerLink } from '../state/api';
import { lazyCode } from '../lazy/lazyCode';
import type { Session } from '../session/session';
import type { CompareLink } from './compareLink';
import {
  DEFAULT_LINK,
  type ILinkOptions,
  type ILinkCallbacks
} from '../state/linkedViews';

const code = lazyCode(async () => (await import('./compareLink')).CompareLink);

class LazyCompareLink implements IViewerLink {
  private _link: CompareLink | null = null;
  private _ended = false;

  constructor(
    sessions: readonly [Session, Session],
    private readonly _requested: Partial<ILinkOptions>,
    private readonly _callbacks: ILinkCallbacks
  ) {
    if (code.now) {
      this._link = new code.now(sessions, _requested, _callbacks);
      return;
    }
    code.get().then(
      Link => {
        if (!this._ended) {
          this._link = new Link(sessions, _requested, _callbacks);
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
    return this._link?.options ?? { ...DEFAULT_LINK, ...this._requested };
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

/** Links two views, which stay in sync as soon as the code is loaded. */
export function linkSessions(
  sessions: readonly [Session, Session],
  options: Partial<ILinkOptions> = {},
  callbacks: ILinkCallbacks = {}
): IViewerLink {
  return new LazyCompareLink(sessions, options, callbacks);
}
