/** State shared by all parts of the viewer. Ids are those of `core/types.ts`. */

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
import type { ITableState } from './tableState';
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

/** `auto`: the viewer decides by its width and the selection. */
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
  /** Matching entities, in graph order. */
  readonly hits: readonly number[];
  /** Index of the current match; -1 if there is none. */
  readonly index: number;
  /** Syntax error in the query. */
  readonly fault: IQuerySyntaxError | null;
}

export const NO_SEARCH: ISearch = {
  query: '',
  hits: [],
  index: -1,
  fault: null
};

export type { ISortKey, ITableState } from './tableState';

/** Whether a batch fixed in the file can be changed; null if not asked yet, or if it can. */
export type BatchState =
  | { readonly status: 'asking' }
  | { readonly status: 'none'; readonly reason: string };

export type ExtractionState =
  | { readonly status: 'working'; readonly nodes: number }
  | { readonly status: 'done'; readonly extracted: Extracted };

/** A saved view. */
export interface IBookmark extends ICamera {
  /** Paths of the open groups; absent to keep them. */
  readonly open?: readonly string[];
  /** Hidden entities, including instances of repeats; absent to keep them. */
  readonly hidden?: IHiddenRecord;
  readonly overlay?: OverlayId | null;
  readonly scale?: ScaleMode;
  readonly device?: IDeviceChoice | null;
  /** Direction and rows that the camera applies to. */
  readonly direction?: Flow;
  readonly rows?: IRowWidth | null;
}

/** An entry of the history for Back and Forward. */
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

/** A trace along the tensors; the rest of the graph is dimmed. */
export interface ITraceState {
  readonly kind: TraceKind;
  /** Names of its starting points. */
  readonly names: readonly string[];
  readonly trace: ITrace;
}

/** The context menu: its target and position, in client coordinates. */
export interface IMenuState {
  readonly target: IHitTarget;
  readonly x: number;
  readonly y: number;
}

export interface IViewerState {
  readonly load: LoadState;
  /** Share of a long layout that is done; null if none is running. */
  readonly layoutProgress: number | null;
  readonly document: IDocument | null;
  readonly selection: Selection;
  /** Additional selected entities (Shift+click). */
  readonly moreSelected: readonly number[];
  /** Entries to go back to, oldest first, and forward to, next one last. */
  readonly historyBack: readonly IHistoryEntry[];
  readonly historyForward: readonly IHistoryEntry[];
  /** Hidden entities; none lies below another. */
  readonly hidden: readonly number[];
  readonly trace: ITraceState | null;
  readonly menu: IMenuState | null;
  readonly overlay: OverlayId | null;
  /** Device for latency estimates. */
  readonly device: IDeviceChoice | null;
  /** True if the list of devices is open. */
  readonly deviceChooserOpen: boolean;
  /** Incremented when the host sets other values for the overlay `user`. */
  readonly userValues: number;
  readonly scale: ScaleMode;
  /** The values that the colours are limited to; null for all. */
  readonly brush: ISpan | null;
  readonly overlayRange: IOverlayRange | null;
  /** True if the host's theme is dark. */
  readonly dark: boolean;
  /** Theme of exported images. */
  readonly exportTheme: ExportTheme;
  readonly showNames: boolean;
  readonly showWeights: boolean;
  /** Arrangement of the graph: direction, and one row or several. */
  readonly direction: Flow;
  readonly search: ISearch;
  /** Entities highlighted from outside the graph, for example by a chart. */
  readonly externalHighlight: readonly number[];
  readonly panels: IPanels;
  /** Whether the panel of the model fits beside the first picture; null: the width of the viewer decides. */
  readonly modelPanelFits: boolean | null;
  readonly table: ITableState;
  readonly diagnosticsFilter: string;
  /** Values that the user set for symbols. */
  readonly bindings: Readonly<Record<string, number>>;
  /** True to bind unset symbols to typical values. */
  readonly assume: boolean;
  readonly batch: BatchState | null;
  /** Groups expanded in the outline. */
  readonly outlineOpen: ReadonlySet<number>;
  readonly bookmarks: Readonly<Record<string, IBookmark>>;
  /** True if the host can create a link to a view. */
  readonly canCopyLink: boolean;
  /** State of the file since it was analysed. */
  readonly file: FileState;
  /** The view that this one is linked with. */
  readonly linkedView: ILinkedView | null;
  /** Values of that view that the colours also span. */
  readonly linkedScaleValues: readonly number[];
  /** Extraction of a part of the model as a separate model. */
  readonly extraction: ExtractionState | null;
  /** Why a request could not be fulfilled; empty for none. */
  readonly notice: string;
  readonly helpOpen: boolean;
  /** For screen readers: the last event without a visible change of focus. */
  readonly announcement: string;
}

/** `page`: as on the screen. */
export type ExportTheme = 'page' | 'light' | 'dark';

/** Hidden entities of one file: `from, to` pairs of ids, valid only for that file. */
export interface IHiddenRecord {
  /** The model's identity. */
  readonly of: string;
  readonly ranges: readonly number[];
}
