/** Everything the viewer's parts share. Ids are those of `core/types.ts`. */

import type { FileState } from '../../providers/provider';
import type { Flow, IGraphModel, IRowWidth } from '../../core/types';
import type { IQuerySyntaxError } from '../../core/query/queryParser';
import type { ISpan, ScaleMode } from '../../core/base/colorScale';
import type { ITrace } from '../../core/trace/dataflowTrace';
import type { IProgress } from '../../providers/provider';
import type { Extracted, Problem } from '../../schema';
import type { ILinkedView } from './linkedViews';
import type { ITensorRef } from '../../core/tree/tensorSeries';
import type { ICamera, IHitTarget } from '../graph/surfaceApi';
import type { OverlayId } from '../overlays';
import type { ITableState } from './table';
import type { IDeviceChoice } from '../../core/types';
import type { IOverlayRange } from '../overlays/types';
import type { IGroupTree } from '../../core/tree/treeTypes';

export type Selection =
  | { readonly kind: 'none' }
  | { readonly kind: 'node'; readonly id: number }
  | { readonly kind: 'group'; readonly id: number }
  | ITensorRef;

export const NO_SELECTION: Selection = { kind: 'none' };

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

export const DRAWER_TABS = [
  'layers',
  'findings',
  'memory',
  'charts',
  'diagnostics',
  'dims',
  'devices',
  'roofline',
  'sweep',
  'serving',
  'run',
  'quantize',
  'report',
  'changes'
] as const;
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
  readonly fault: IQuerySyntaxError | null;
}

export const NO_SEARCH: ISearch = {
  query: '',
  hits: [],
  at: -1,
  fault: null
};

export type { ISortKey, ITableState } from './table';

/** Whether a batch that the file has fixed can be another; null: nobody asked, or it can. */
export type BatchState =
  | { readonly status: 'asking' }
  | { readonly status: 'none'; readonly reason: string };

export type ExtractionState =
  | { readonly status: 'working'; readonly nodes: number }
  | { readonly status: 'done'; readonly found: Extracted };

/** A stored view. */
export interface IBookmark extends ICamera {
  /** Paths of the open groups; absent: as they are. */
  readonly open?: readonly string[];
  /** What was left out, and which parts of repeats; absent: as it is. */
  readonly hidden?: IHiddenRecord;
  readonly overlay?: OverlayId | null;
  readonly scale?: ScaleMode;
  readonly device?: IDeviceChoice | null;
  /** The way the picture flowed that the camera is for, and its rows. */
  readonly direction?: Flow;
  readonly rows?: IRowWidth | null;
}

/** Where the reader was: what Back and Forward go through. */
export interface IHistoryEntry {
  readonly selection: Selection;
  readonly moreSelected: readonly number[];
  readonly open: readonly number[];
  readonly hidden: readonly number[];
  readonly camera: ICamera | null;
  readonly direction: Flow;
  readonly rows: IRowWidth | null;
}

export type TraceKind = 'ancestors' | 'descendants' | 'paths' | 'changes';

/** What is followed along the tensors; the rest of the picture is dimmed. */
export interface ITraceState {
  readonly kind: TraceKind;
  /** What it was started from. */
  readonly names: readonly string[];
  readonly trace: ITrace;
}

/** The context menu: what it is about and where it opens, in client coordinates. */
export interface IMenuState {
  readonly what: IHitTarget;
  readonly x: number;
  readonly y: number;
}

export interface IViewerState {
  readonly load: LoadState;
  /** The share of a long layout that is done; null = nothing takes long. */
  readonly layoutProgress: number | null;
  readonly document: IDocument | null;
  readonly selection: Selection;
  /** Entities selected besides `selection` (Shift+click). */
  readonly moreSelected: readonly number[];
  /** Places to go back to, oldest first, and forward to, next last. */
  readonly historyBack: readonly IHistoryEntry[];
  readonly historyForward: readonly IHistoryEntry[];
  /** Entities left out of the picture; none lies below another. */
  readonly hidden: readonly number[];
  readonly trace: ITraceState | null;
  readonly menu: IMenuState | null;
  readonly overlay: OverlayId | null;
  /** What estimated times are for. */
  readonly device: IDeviceChoice | null;
  /** The list of devices is open. */
  readonly deviceChooserOpen: boolean;
  /** Counts up when the host gives other numbers for the overlay `user`. */
  readonly userValues: number;
  readonly scale: ScaleMode;
  /** The part of the values that the colours are spread over; null = all. */
  readonly brush: ISpan | null;
  readonly overlayRange: IOverlayRange | null;
  /** The host's theme is a dark one. */
  readonly dark: boolean;
  /** Light or dark of saved pictures. */
  readonly exportTheme: ExportTheme;
  readonly showNames: boolean;
  readonly showWeights: boolean;
  /** How the picture is set: which way it flows, in one row or several. */
  readonly direction: Flow;
  readonly search: ISearch;
  /** Entities that something outside the picture points at, a chart for example. */
  readonly externalHighlight: readonly number[];
  readonly panels: IPanels;
  readonly table: ITableState;
  readonly diagnosticsFilter: string;
  /** Values the user gave to symbols. */
  readonly bindings: Readonly<Record<string, number>>;
  /** Unbound symbols get suggested values. */
  readonly assume: boolean;
  readonly batch: BatchState | null;
  /** Groups that are open in the outline. */
  readonly outlineOpen: ReadonlySet<number>;
  readonly bookmarks: Readonly<Record<string, IBookmark>>;
  /** The host knows an address for a view. */
  readonly canCopyLink: boolean;
  /** What has become of the file since it was analysed. */
  readonly file: FileState;
  /** The view that this one is linked with. */
  readonly linkedView: ILinkedView | null;
  /** Numbers of that view that the colours span too. */
  readonly linkedScaleValues: readonly number[];
  /** A part of the model that is being written, or was, as a model of its own. */
  readonly extraction: ExtractionState | null;
  /** Something asked for that could not be done, and why; empty = nothing. */
  readonly notice: string;
  readonly helpOpen: boolean;
  /** For screen readers: the last thing that happened without a visible focus change. */
  readonly announcement: string;
}

/** `page`: as the picture is on screen. */
export type ExportTheme = 'page' | 'light' | 'dark';

/** Hidden entities of one file: `from, to` pairs of ids, good only for the same file. */
export interface IHiddenRecord {
  /** The model's identity. */
  readonly of: string;
  readonly ranges: readonly number[];
}
