/** A session as its helpers and its host see it. */

import type { IGraphModel } from '../../core/types';
import type { IReportProvider } from '../../providers/provider';
import type { IFileHost, IViewerSettings } from '../state/api';
import type { IHitTarget } from '../graph/surfaceApi';
import type { IUserValues } from '../overlays';
import type { ISnapshot } from '../state/snapshot';
import type { IStore } from '../state/store';
import type { IViewerState, Selection } from '../state/types';
import { IDENTITY, type ITranslate } from '../i18n/translate';
import type { DetailsCache } from './detailsCache';
import type { GraphController } from './graphController';

/** What the host of a session gives it. Read when it is needed: a host may change it. */
export interface ISessionHost {
  /** For sentences that actions write into files. */
  readonly trans: ITranslate;
  /** The address for a view's text; null where the host has none. */
  readonly linkTo: ((view: string) => string) | null;
  /** What the host does with new files; null where it has no place for them. */
  readonly files: IFileHost | null;
}

/** A host that offers nothing. */
export const NO_HOST: ISessionHost = {
  trans: IDENTITY,
  linkTo: null,
  files: null
};

/** Hears of what does not stand in the state. */
export interface ISessionListener {
  /** Other boxes are drawn. */
  onPicture?(): void;
  onCamera?(): void;
  /** See `ISurfaceCallbacks`. */
  onHover?(what: IHitTarget, box: number): void;
  onRing?(box: number): void;
}

/** What to do to the picture when something is selected. */
export type RevealMode = 'none' | 'focus' | 'reveal';

/** One open view of one model. */
export interface ISession extends ISessionHost {
  readonly provider: IReportProvider;
  readonly store: IStore<IViewerState>;
  readonly details: DetailsCache;
  readonly graph: GraphController;
  /** What new views start with; see `applySettings`. */
  settings: IViewerSettings;
  /** Numbers of the host's own; they outlive a new analysis. */
  userValues: IUserValues | null;
  load(): Promise<void>;
  /** The loaded model at other sizes; null where that cannot be computed here. */
  at(sizes: Readonly<Record<string, number>>): IGraphModel | null;
  /** Gives symbols their values and analyses again. */
  bind(
    bindings: Readonly<Record<string, number>>,
    assume: boolean
  ): Promise<void>;
  select(selection: Selection, follow?: RevealMode): void;
  snapshot(): ISnapshot;
}
