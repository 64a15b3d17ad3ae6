/** Expands or collapses blocks in one view as in the other. */

import {
  otherSide,
  type IMatching,
  type Side
} from '../../core/matching/matchers';
import type { Session } from '../session/session';

/** Groups of `now` that are not in `before`. */
function addedGroups(
  before: ReadonlySet<number>,
  now: Iterable<number>
): number[] {
  return [...now].filter(group => !before.has(group));
}

export class ExpansionSync {
  /** By side: the open groups when last checked, and their structure. */
  private readonly _open: [ReadonlySet<number>, ReadonlySet<number>] = [
    new Set(),
    new Set()
  ];
  private readonly _structures: [unknown, unknown] = [null, null];
  /** Views that are being changed from here, so that their changes are not followed. */
  private readonly _busy: [number, number] = [0, 0];

  constructor(private readonly _sessions: readonly [Session, Session]) {}

  /** Takes the open groups as the new baseline. */
  captureBaseline(): void {
    this._captureOpen(0);
    this._captureOpen(1);
  }

  /** Changes the view `side` without following that change. */
  private async _withoutSync(
    side: Side,
    work: () => Promise<void>
  ): Promise<void> {
    this._busy[side]++;
    try {
      await work();
    } finally {
      this._busy[side]--;
      this._captureOpen(side);
    }
  }

  /** Expands or collapses the counterparts of the groups that changed in a view. */
  copyFrom(side: Side, matching: IMatching): Promise<void> {
    const before = this._open[side];
    const structure = this._structures[side];
    this._captureOpen(side);
    const to = otherSide(side);
    // Groups of another file have other ids.
    const isUnchanged =
      structure !== null && structure === this._structures[side];
    if (!isUnchanged || this._busy[side] > 0) {
      return Promise.resolve();
    }
    const opened = this._counterparts(
      matching,
      side,
      addedGroups(before, this._open[side])
    );
    const closed = this._counterparts(
      matching,
      side,
      addedGroups(this._open[side], before)
    );
    const openGroups = new Set(this._sessions[to].graph.openGroups());
    const change =
      opened.some(group => !openGroups.has(group)) ||
      closed.some(group => openGroups.has(group));
    if (!change) {
      return Promise.resolve();
    }
    opened.forEach(group => openGroups.add(group));
    closed.forEach(group => openGroups.delete(group));
    const { nodeCount } = this._model(to);
    const only = [...opened, ...closed];
    const anchor = only.length === 1 ? nodeCount + only[0] : undefined;
    return this._withoutSync(to, () =>
      this._sessions[to].graph.transition(
        view => view.restore([...openGroups]),
        anchor
      )
    );
  }

  private _captureOpen(side: Side): void {
    const { graph, store } = this._sessions[side];
    this._open[side] = new Set(graph.openGroups());
    this._structures[side] =
      store.get().document?.model.payload.nodes.name ?? null;
  }

  private _model(side: Side): { readonly nodeCount: number } {
    return this._sessions[side].store.get().document!.model;
  }

  private _counterparts(
    matching: IMatching,
    side: Side,
    groups: readonly number[]
  ): number[] {
    const nodeCount = this._model(side).nodeCount;
    const otherNodeCount = this._model(otherSide(side)).nodeCount;
    return groups
      .map(group => matching.counterpart(side, nodeCount + group))
      .filter(entity => entity >= 0)
      .map(entity => entity - otherNodeCount);
  }
}
