/** The viewer's interface for hosts. */

import type { ILayoutEngine } from '../../core/layout/engine/layoutEngine';
import type { Flow } from '../../core/types';
import type {
  GivenFile,
  IReportProvider,
  TaskOrder
} from '../../providers/provider';
import type { ILinkOptions, ILinkCallbacks } from './linkedViews';
import type { IUserValues, OverlayId } from '../overlays';
import type { ITranslate } from '../i18n/translate';

/** The user's defaults, overridden by the snapshot of a view. */
export interface IViewerSettings {
  /** Overlay of a new view; `auto` means MACs if known, else parameters. */
  readonly overlay: OverlayId | 'auto' | 'none';
  readonly logScale: boolean;
  /** Device for latency estimates in a new view; empty or unknown for none. */
  readonly device: string;
  /** Empty means as stored. */
  readonly precision: string;
  /** Runtime; the default one if empty or if the model has no estimate for it. */
  readonly runtime: string;
  /** Maximum number of boxes in the initial view. */
  readonly boxBudget: number;
  /** Bind unset symbols to typical values, so that costs are numbers from the start. */
  readonly assumeDims: boolean;
  readonly wheel: 'pan' | 'zoom';
  readonly minimap: boolean;
  readonly showNames: boolean;
  readonly showWeights: boolean;
  /** Arrangement of a new graph. */
  readonly direction: Flow;
}

export const DEFAULT_SETTINGS: IViewerSettings = {
  overlay: 'auto',
  logScale: false,
  device: '',
  precision: '',
  runtime: '',
  boxBudget: 40,
  assumeDims: true,
  wheel: 'pan',
  minimap: true,
  showNames: false,
  showWeights: true,
  direction: 'auto'
};

/** An action that a host can offer as a command; its keys work inside the viewer without the host. */
export interface IActionInfo {
  readonly id: string;
  readonly label: string;
  /** Such as `Shift+E`; the first one is displayed. */
  readonly keys: readonly string[];
}

/** A host's interface to a mounted viewer. */
export interface IViewerHandle {
  readonly actions: readonly IActionInfo[];
  /** Returns false if there is no such action or it is disabled. */
  run(action: string): boolean;
  isEnabled(action: string): boolean;
  /** JSON for a host's state database. */
  getState(): object;
  /** Restores the result of `getState`, of this or another version; invalid parts are ignored. */
  setState(state: unknown): void;
  /** Ids of the selected nodes; those of selected groups in graph order. */
  selectedNodes(): number[];
  /** Selects nodes and brings the first into view; none clears the selection. */
  selectNodes(nodes: readonly number[]): void;
  setOverlay(overlay: OverlayId | null): void;
  /** Sets and shows values of the host; null removes them. */
  setUserValues(values: IUserValues | null): void;
  /** Binds symbols to values and analyses the model again. */
  bind(bindings: Readonly<Record<string, number>>): void;
  /**
   * Shows the numbers for other sizes at once, with a size for every symbol; an analysis follows if
   * possible. Returns false, without any change, if only an analysis can compute them.
   */
  preview(sizes: Readonly<Record<string, number>>): Promise<boolean>;
  /** Returns to the initial view: the whole graph, or its beginning. */
  home(): void;
  /** Analyses the file again; the view is kept. */
  reload(): void;
  /** Asks the provider whether the file has changed, and shows the banner if so. */
  checkFile(): void;
  /** Starts a task on the model and shows its tab, or a notice if there is no server or kernel. */
  startTask(order: TaskOrder): void;
  /** Shows times measured elsewhere: a profile, for TensorRT with its layer information. */
  loadProfile(files: readonly GivenFile[]): void;
  /**
   * Links this view with another one: selection, expanded blocks, colours and dimensions follow. Null if
   * it is the same view. End the link before linking either view again.
   */
  link(
    other: IViewerHandle,
    options?: Partial<ILinkOptions>,
    callbacks?: ILinkCallbacks
  ): IViewerLink | null;
}

/** Two linked views. */
export interface IViewerLink {
  readonly options: ILinkOptions;
  end(): void;
}

/** A host's operations on files written through the viewer. Paths are the provider's. */
export interface IFileHost {
  /** A file was added. */
  added(path: string): void;
  /** Opens a model in a new view. */
  open(path: string): void;
  /** Opens a model next to the current one, linked. Absent if there is no room for two. */
  compare?(path: string): void;
  /**
   * Opens a model and verifies it against another file, on the samples next to it or on synthetic values.
   */
  verify?(path: string, against: string, data: string): void;
  /** Lets the user choose a file with one of these extensions; returns its path, or null if cancelled. */
  choose?(title: string, extensions: readonly string[]): Promise<string | null>;
}

export interface IViewerProps {
  readonly provider: IReportProvider;
  /** Open views follow changes. */
  readonly settings?: Partial<IViewerSettings>;
  readonly translator?: ITranslate;
  /** Creates the layout engine; if absent, layouts run on this thread. Read once per provider. */
  readonly makeLayoutEngine?: () => ILayoutEngine;
  /** Any text that changes with the host's theme; colours are then read again. */
  readonly theme?: string;
  /** Keys that the host has bound to actions, replacing the viewer's own. */
  readonly keys?: BoundKeys;
  /** Initial snapshot. */
  readonly state?: unknown;
  /** Called after a change worth saving, at most once per second. */
  readonly onStateChange?: (
    state: object,
    /** The same, without values that a new view has by default. */
    changed: object
  ) => void;
  readonly onReady?: (handle: IViewerHandle) => void;
  /**
   * Called after each change of the selection, with node ids (see `selectedNodes`) and tensor names; a
   * selected pill gives all its tensors.
   */
  readonly onSelection?: (nodes: number[], tensors: string[]) => void;
  /** Returns the address that opens this model with a view; `view` is inserted unchanged. */
  readonly linkTo?: (view: string) => string;
  /** If absent, files may be written but cannot be opened from here. */
  readonly files?: IFileHost;
  /**
   * Called with the sizes of symbolic dimensions after the numbers changed; unset symbols are omitted.
   */
  readonly onDims?: (sizes: Readonly<Record<string, number>>) => void;
  /** Called after the overlay changed. */
  readonly onOverlay?: (overlay: OverlayId | null) => void;
  /** Called with the model's name and a one-line summary, once known. */
  readonly onTitle?: (title: string, caption: string) => void;
}

/** Keys that a host has bound, by action id; null for the viewer's own keys. */
export type BoundKeys = Readonly<Record<string, readonly string[]>> | null;
