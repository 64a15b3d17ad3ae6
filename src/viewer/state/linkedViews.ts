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

/** Options of a link; stored by the host. */
export interface ILinkOptions {
  readonly match: MatchMode;
  /** Panning and zooming one view also moves the other. */
  readonly camera: boolean;
}

export const DEFAULT_LINK: ILinkOptions = { match: 'auto', camera: false };

/** Names of the two views, in the order in which they were linked. */
export const VIEW_LABELS = ['A', 'B'] as const;

/** A dimension whose size differs between the models. */
export interface ISizeConflict {
  readonly name: string;
  readonly here: number | null;
  readonly there: number | null;
}

/** Result of synchronising the last selection. */
export type SelectionSyncResult =
  | { readonly kind: 'nothing' }
  /** `rule`: how the counterpart was found; null for blocks, tensors and multiple selections. */
  | {
      readonly kind: 'found';
      readonly name: string;
      readonly rule: MatchRule | null;
    }
  /** Selected in the view `from`; `missing` of `of` entities have no counterpart in the other. */
  | {
      readonly kind: 'missing';
      readonly from: Side;
      readonly name: string;
      readonly missing: number;
      readonly of: number;
    };

/** Result of aligning two models. */
export interface IComparedChanges {
  readonly columns: ComparisonColumns;
  readonly changes: IChanges;
  /** For both models as one graph: true if only the second one has the node or group. */
  readonly added?: (entity: number) => boolean;
  /** Selects the next (1) or previous (-1) difference, starting in the view `side`. */
  step(side: Side, step: 1 | -1): void;
  /** Toggles dimming of everything that is equal in both views. */
  toggleOnly(side: Side): void;
}

/** The other of two linked views. */
export interface ILinkedView {
  readonly side: Side;
  /** File name of the other model. */
  readonly name: string;
  /** The other model; null until it is analysed. */
  readonly model: IGraphModel | null;
  readonly counts: IMatchCounts | null;
  readonly synced: SelectionSyncResult;
  /** Changes between the two; null if only names and wires were compared. */
  readonly compared: IComparedChanges | null;
  readonly conflicts: readonly ISizeConflict[];
  /** Provider of the other model. */
  readonly provider: IReportProvider;
  /** True if both are shown as one graph in place of this view. */
  readonly merged: boolean;
  /** Toggles whether both are shown as one graph here. */
  toggleMerged(): void;
  readonly options: ILinkOptions;
  setOptions(change: Partial<ILinkOptions>): void;
  /** Selects the entities that only this view has. */
  selectUnmatched(): void;
  end(): void;
}

export interface ILinkCallbacks {
  /** Called once when the link has ended, whoever ended it. */
  onEnd?(): void;
  /** The user changed the options. */
  onOptions?(options: ILinkOptions): void;
}
