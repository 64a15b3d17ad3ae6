/** What a host sees of the viewer. */

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

/** The user's defaults. What a view's snapshot remembers wins over them. */
export interface IViewerSettings {
  /** Overlay of a new view; `auto`: MACs where they are known, else parameters. */
  readonly overlay: OverlayId | 'auto' | 'none';
  readonly logScale: boolean;
  /** What times are estimated for in a new view; empty or unknown: no device. */
  readonly device: string;
  /** Empty: as the model is stored. */
  readonly precision: string;
  /** What runs the model; empty, or one that the model has no estimate for: the usual one. */
  readonly runtime: string;
  /** How many boxes the first picture may have. */
  readonly boxBudget: number;
  /** Give unbound symbols their suggested values, so that costs are numbers from the start. */
  readonly assumeDims: boolean;
  readonly wheel: 'pan' | 'zoom';
  readonly minimap: boolean;
  readonly showNames: boolean;
  readonly showWeights: boolean;
  /** How a new picture is set. */
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

/** An action a host can offer as a command; its keys work inside the viewer without the host. */
export interface IActionInfo {
  readonly id: string;
  readonly label: string;
  /** Like `Shift+E`; the first is the one to show. */
  readonly keys: readonly string[];
}

/** How a host drives a mounted viewer. */
export interface IViewerHandle {
  readonly actions: readonly IActionInfo[];
  /** False when there is no such action or it cannot run now. */
  run(action: string): boolean;
  isEnabled(action: string): boolean;
  /** JSON for a host's state database. */
  getState(): object;
  /** Takes what `getState` gave, of this or another version; what does not fit is ignored. */
  setState(state: unknown): void;
  /** Ids of the selected nodes, those of selected groups in graph order. */
  selectedNodes(): number[];
  /** Selects nodes and brings the first into view; none clears the selection. */
  selectNodes(nodes: readonly number[]): void;
  setOverlay(overlay: OverlayId | null): void;
  /** Numbers of the host's own; shown at once, taken away with null. */
  setUserValues(values: IUserValues | null): void;
  /** Gives symbols their values and analyses again. */
  bind(bindings: Readonly<Record<string, number>>): void;
  /**
   * Shows the numbers under other sizes at once, for every symbol one; an analysis follows where there can
   * be one. False, and nothing changes, where only an analysis can tell.
   */
  preview(sizes: Readonly<Record<string, number>>): Promise<boolean>;
  /** Looks at the picture as at first: all of it, or its beginning. */
  home(): void;
  /** Analyses the file again; the view is kept. */
  reload(): void;
  /** Asks the provider whether the file changed and shows the banner if so. */
  checkFile(): void;
  /** Starts work on the model and shows the tab that tells of it; says so where nobody is there to do it. */
  startTask(order: TaskOrder): void;
  /** Paints times that were measured elsewhere: a profile, of TensorRT with its layer information. */
  loadProfile(files: readonly GivenFile[]): void;
  /**
   * Links this view with another one: selection, open blocks, colours and dimensions follow. Null when
   * it is the same view. End the link before a third one is made with either.
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

/** What a host does with files that the viewer had written. Paths are those of the provider. */
export interface IFileHost {
  /** A file is new. */
  added(path: string): void;
  /** Opens a model in a view of its own. */
  open(path: string): void;
  /** Opens a model beside the one that is shown, linked. Absent where there is no room for two. */
  compare?(path: string): void;
  /** Opens a model and verifies it against another file, on samples beside it or on made-up values. */
  verify?(path: string, against: string, data: string): void;
  /** The path of a file that the user chooses, of one of these kinds; null when they think better of it. */
  choose?(title: string, extensions: readonly string[]): Promise<string | null>;
}

export interface IViewerProps {
  readonly provider: IReportProvider;
  /** Open views follow when they change. */
  readonly settings?: Partial<IViewerSettings>;
  readonly translator?: ITranslate;
  /** Makes the engine that lays out the graph; one on this thread when absent. Read once a provider. */
  readonly makeLayoutEngine?: () => ILayoutEngine;
  /** Any text that changes when the host's theme does; colours are read again then. */
  readonly theme?: string;
  /** Keys that the host has bound to actions, instead of the viewer's own. */
  readonly keys?: BoundKeys;
  /** A snapshot to start from. */
  readonly state?: unknown;
  /** Called after the user changed something worth remembering, at most once a second. */
  readonly onStateChange?: (
    state: object,
    /** The same without what the settings give a new view anyway. */
    own: object
  ) => void;
  readonly onReady?: (handle: IViewerHandle) => void;
  /**
   * After each change of the selection: ids of nodes, see `selectedNodes`, and names of tensors, of a
   * selected pill those of all that it stands for.
   */
  readonly onSelection?: (nodes: number[], tensors: string[]) => void;
  /** The address that opens this model with a view; `view` is written into it as it is. */
  readonly linkTo?: (view: string) => string;
  /** Absent: files can be written, perhaps, but not opened from here. */
  readonly files?: IFileHost;
  /** Sizes of the free dimensions after the numbers changed; those that stay symbols are left out. */
  readonly onDims?: (sizes: Readonly<Record<string, number>>) => void;
  /** After the overlay changed. */
  readonly onOverlay?: (overlay: OverlayId | null) => void;
  /** The model's name and a one-line summary, when known. */
  readonly onTitle?: (title: string, caption: string) => void;
}

/** Keys that a host has bound, by the id of the action. Null: the keys of the viewer. */
export type BoundKeys = Readonly<Record<string, readonly string[]>> | null;
