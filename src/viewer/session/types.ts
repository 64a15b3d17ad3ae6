/** Interfaces of a session for its helpers and its host. */

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

/** What the host provides to a session. Read on access, since a host may change it. */
export interface ISessionHost {
  /** For text that actions write into files. */
  readonly trans: ITranslate;
  /** The address for a view's text; null if the host has none. */
  readonly linkTo: ((view: string) => string) | null;
  /** The host's handling of new files; null if it has none. */
  readonly files: IFileHost | null;
}

/** A host that provides nothing. */
export const NO_HOST: ISessionHost = {
  trans: IDENTITY,
  linkTo: null,
  files: null
};

/** Listener for events that are not part of the state. */
export interface ISessionListener {
  /** Other boxes were drawn. */
  onScene?(): void;
  onCamera?(): void;
  /** See `ISurfaceCallbacks`. */
  onHover?(target: IHitTarget, box: number): void;
  onRing?(box: number): void;
}

/** How the camera reacts to a selection. */
export type RevealMode = 'none' | 'focus' | 'reveal';

/** An open view of a model. */
export interface ISession extends ISessionHost {
  readonly provider: IReportProvider;
  readonly store: IStore<IViewerState>;
  readonly details: DetailsCache;
  readonly graph: GraphController;
  /** Settings for new views; see `applySettings`. */
  settings: IViewerSettings;
  /** Values from the host; they survive a new analysis. */
  userValues: IUserValues | null;
  load(): Promise<void>;
  /** The loaded model at other sizes; null if that cannot be computed here. */
  modelAt(sizes: Readonly<Record<string, number>>): IGraphModel | null;
  /** Binds symbols to values and analyses the model again. */
  bind(
    bindings: Readonly<Record<string, number>>,
    assume: boolean
  ): Promise<void>;
  select(selection: Selection, reveal?: RevealMode): void;
  snapshot(): ISnapshot;
}
