/** What a linked view knows of the other one. */

import type { IGraphModel } from '../../core/types';
import type { IReportProvider } from '../../providers/provider';
import type { ComparisonColumns } from '../../schema';
import type {
  IChanges,
  IMatchCounts,
  MatchMode,
  MatchRule,
  Side
} from '../../core/matching/matchers';

/** How two views are linked; remembered by the host. */
export interface ILinkOptions {
  readonly match: MatchMode;
  /** Moving and zooming one view moves and zooms the other. */
  readonly camera: boolean;
}

export const DEFAULT_LINK: ILinkOptions = { match: 'auto', camera: false };

/** Names of the two views, in the order in which they were linked. */
export const VIEW_LABELS = ['A', 'B'] as const;

/** A dimension of one name that has another size in the other model. */
export interface ISizeConflict {
  readonly name: string;
  readonly here: number | null;
  readonly there: number | null;
}

/** What became of the last selection. */
export type SelectionSyncResult =
  | { readonly kind: 'nothing' }
  /** `rule`: how the counterpart was found; null for blocks, tensors and several things. */
  | {
      readonly kind: 'found';
      readonly name: string;
      readonly rule: MatchRule | null;
    }
  /** Selected in the view `from`; `missing` of `of` things have no counterpart in the other. */
  | {
      readonly kind: 'missing';
      readonly from: Side;
      readonly name: string;
      readonly missing: number;
      readonly of: number;
    };

/** What the alignment of two models found. */
export interface IComparedChanges {
  readonly columns: ComparisonColumns;
  readonly changes: IChanges;
  /** In a picture of both as one graph: whether only the second model has a node or group. */
  readonly added?: (entity: number) => boolean;
  /** Goes to the next (1) or previous (-1) thing that differs, from the view `side`. */
  step(side: Side, step: 1 | -1): void;
  /** Dims what is the same in both views, or no longer. */
  toggleOnly(side: Side): void;
}

/** The other view, as one of two linked views sees it. */
export interface ILinkedView {
  readonly side: Side;
  /** File name of the other model. */
  readonly name: string;
  /** The other model; null until it is analysed. */
  readonly model: IGraphModel | null;
  readonly counts: IMatchCounts | null;
  readonly synced: SelectionSyncResult;
  /** What changed between the two; null where only names and wires were looked at. */
  readonly compared: IComparedChanges | null;
  readonly conflicts: readonly ISizeConflict[];
  /** Where the other model comes from. */
  readonly provider: IReportProvider;
  /** Both are shown as one graph in the place of this view. */
  readonly merged: boolean;
  /** Shows both as one graph here, or no longer. */
  toggleMerged(): void;
  readonly options: ILinkOptions;
  setOptions(change: Partial<ILinkOptions>): void;
  /** Selects what this view alone has. */
  selectUnmatched(): void;
  end(): void;
}

export interface ILinkCallbacks {
  /** The link has ended, by whomever. Called once. */
  onEnd?(): void;
  /** The user chose other options. */
  onOptions?(options: ILinkOptions): void;
}
