/** Everything the viewer's parts share. Ids are those of `core/types.ts`. */

import type { IGraphModel, IGroupTree, IQueryFault } from '../../core';
import type { IProgress } from '../../providers/provider';
import type { Problem } from '../../schema';
import type { ICamera } from '../graph/api';
import type { OverlayId } from '../overlays';

export type Selection =
  | { readonly kind: 'none' }
  | { readonly kind: 'node'; readonly id: number }
  | { readonly kind: 'group'; readonly id: number }
  | { readonly kind: 'tensor'; readonly id: number };

export const NOTHING: Selection = { kind: 'none' };

export type LoadState =
  | { readonly status: 'loading'; readonly progress: IProgress }
  | { readonly status: 'failed'; readonly problem: Problem }
  | { readonly status: 'cancelled' }
  | { readonly status: 'ready' };

/** A loaded model. Stays in the state while the same file is analysed again. */
export interface IDocument {
  readonly model: IGraphModel;
  readonly tree: IGroupTree;
}

export const DRAWER_TABS = ['layers', 'diagnostics', 'dims'] as const;
export type DrawerTab = (typeof DRAWER_TABS)[number];

/** `auto`: the viewer decides by its width and by what is selected. */
export type PanelMode = 'auto' | 'open' | 'closed';

export interface IPanels {
  readonly outline: PanelMode;
  readonly inspector: PanelMode;
  readonly drawer: boolean;
  readonly tab: DrawerTab;
  /** Pixels. */
  readonly outlineWidth: number;
  readonly inspectorWidth: number;
  readonly drawerHeight: number;
}

export const DEFAULT_PANELS: IPanels = {
  outline: 'auto',
  inspector: 'auto',
  drawer: false,
  tab: 'layers',
  outlineWidth: 260,
  inspectorWidth: 330,
  drawerHeight: 280
};

export interface ISearch {
  readonly query: string;
  /** Entities that match, in graph order. */
  readonly hits: readonly number[];
  /** Index of the current hit, -1 = none. */
  readonly at: number;
  /** What is wrong with the query. */
  readonly fault: IQueryFault | null;
}

export const NO_SEARCH: ISearch = {
  query: '',
  hits: [],
  at: -1,
  fault: null
};

export interface ITableState {
  /** Column id; empty = graph order. */
  readonly sort: string;
  readonly descending: boolean;
  readonly filter: string;
  /** Operator type, empty = all. */
  readonly op: string;
}

/** What the overlay's colours span now. */
export interface IRange {
  readonly min: number;
  readonly max: number;
  /** Visible boxes without a number. */
  readonly unknown: number;
}

export interface IViewerState {
  readonly load: LoadState;
  readonly document: IDocument | null;
  readonly selection: Selection;
  /** Entities selected besides `selection` (Shift+click). */
  readonly also: readonly number[];
  /** Selections to go back to, oldest first. */
  readonly back: readonly Selection[];
  readonly overlay: OverlayId | null;
  /** Counts up when the host gives other numbers for the overlay `user`. */
  readonly userValues: number;
  readonly logScale: boolean;
  readonly range: IRange | null;
  /** The host's theme is a dark one. */
  readonly dark: boolean;
  readonly showNames: boolean;
  readonly showWeights: boolean;
  readonly search: ISearch;
  readonly panels: IPanels;
  readonly table: ITableState;
  readonly severity: string;
  /** Values the user gave to symbols. */
  readonly bindings: Readonly<Record<string, number>>;
  /** Unbound symbols get suggested values. */
  readonly assume: boolean;
  /** Groups that are open in the outline. */
  readonly outlineOpen: ReadonlySet<number>;
  readonly bookmarks: Readonly<Record<string, ICamera>>;
  readonly fileChanged: boolean;
  readonly help: boolean;
  /** For screen readers: the last thing that happened without a visible focus change. */
  readonly announcement: string;
}
