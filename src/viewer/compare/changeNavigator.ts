/**
 * Differences between two linked models: the colours of both views, and navigation from change to change.
 */

import type { ComparisonColumns } from '../../schema';
import { SIDES, type IChanges, type Side } from '../../core/matching/matchers';
import { setChanges, type OverlayId } from '../overlays';
import { endTrace } from '../session/traceActions';
import type { Session } from '../session/session';
import type { IComparedChanges } from '../state/linkedViews';
import { kindText } from './changeKinds';
import { changeStates } from './changeStates';

/** A difference, and its position in the order of the first model. */
interface IDifferingItem {
  readonly side: Side;
  readonly node: number;
  readonly position: number;
}

export class ChangeNavigator {
  private _compared: IComparedChanges | null = null;
  private _differences: readonly IDifferingItem[] | null = null;
  /** Previous overlay by side; null if changes are not shown. */
  private _previousOverlays: (OverlayId | null)[] | null = null;

  private _trees: [unknown, unknown] = [null, null];

  constructor(private readonly _sessions: readonly [Session, Session]) {}

  get compared(): IComparedChanges | null {
    return this._compared;
  }

  /** Shows these changes in both views; null if none are known. */
  setChanges(
    changes: IChanges | null,
    columns: ComparisonColumns | null
  ): void {
    this._differences = null;
    if (!changes || !columns) {
      this.end();
      return;
    }
    this._compared = {
      columns,
      changes,
      step: (side, step) => this._step(side, step),
      toggleOnly: side => this._toggleOnly(side)
    };
    this._trees = [null, null];
    this._previousOverlays ??= this._sessions.map(
      ({ store }) => store.get().overlay
    );
    for (const side of SIDES) {
      this._applyTo(side);
      this._sessions[side].store.set({ overlay: 'changes' });
    }
  }

  private _applyTo(side: Side): void {
    const changes = this._compared?.changes;
    const { store, trans } = this._sessions[side];
    const { document, userValues } = store.get();
    if (changes && document && this._trees[side] !== document.tree) {
      this._trees[side] = document.tree;
      const states = changeStates({
        second: side === 1,
        trans,
        state: entity => changes.state(side, entity),
        about: entity =>
          changes
            .kinds(side, entity)
            .map(kind => kindText(kind, trans))
            .join(', ')
      });
      setChanges(document.tree, states);
      store.set({ userValues: userValues + 1 });
    }
  }

  /** Applies the changes again after the models were loaded with other sizes. */
  reapply(): void {
    SIDES.forEach(side => this._applyTo(side));
  }

  /** Restores the previous overlays of both views. */
  end(): void {
    this._compared = null;
    if (!this._previousOverlays) {
      return;
    }
    for (const side of SIDES) {
      const { store } = this._sessions[side];
      const { document, overlay, trace } = store.get();
      if (document) {
        setChanges(document.tree, null);
      }
      if (overlay === 'changes') {
        store.set({ overlay: this._previousOverlays[side] });
      }
      if (trace?.kind === 'changes') {
        store.set({ trace: null });
      }
    }
    this._previousOverlays = null;
  }

  private _order(): readonly IDifferingItem[] {
    const changes = this._compared?.changes;
    if (!changes) {
      return [];
    }
    if (!this._differences) {
      const trees = this._sessions.map(s => s.store.get().document!.tree);
      const stops: IDifferingItem[] = changes.differing[0].map(node => ({
        side: 0,
        node,
        position: trees[0].nodePosition[node]
      }));
      // Nodes that only the second model has follow the counterpart of their predecessor.
      const positionOf = new Map<number, number>();
      for (const node of trees[0].nodeOrder) {
        const pair = changes.pair(0, node);
        if (pair >= 0) {
          positionOf.set(pair, trees[0].nodePosition[node]);
        }
      }
      let position = -1;
      for (const node of trees[1].nodeOrder) {
        position = positionOf.get(changes.pair(1, node)) ?? position;
        if (changes.state(1, node) === 'only') {
          stops.push({ side: 1, node, position: position + 0.5 });
        }
      }
      this._differences = stops.sort((a, b) => a.position - b.position);
    }
    return this._differences;
  }

  private _step(side: Side, step: 1 | -1): void {
    const stops = this._order();
    const { trans, store } = this._sessions[side];
    if (stops.length === 0) {
      store.set({ announcement: trans.__('Nothing differs.') });
      return;
    }
    const current = this._currentIndex(stops);
    const next =
      current === null
        ? step > 0
          ? 0
          : stops.length - 1
        : ((step > 0 ? Math.floor(current) + 1 : Math.ceil(current) - 1) +
            stops.length) %
          stops.length;
    const stop = stops[next];
    this._sessions[stop.side].select({ kind: 'node', id: stop.node }, 'reveal');
    store.set({
      announcement: trans.__('Change %1 of %2', next + 1, stops.length)
    });
  }

  /**
   * Index of the selected change; fractional between two if something else is selected; null without a
   * selection.
   */
  private _currentIndex(stops: readonly IDifferingItem[]): number | null {
    const changes = this._compared!.changes;
    for (const side of SIDES) {
      const { selection, document } = this._sessions[side].store.get();
      if (selection.kind !== 'node' || !document) {
        continue;
      }
      const pair = changes.pair(side, selection.id);
      const index = stops.findIndex(stop =>
        pair >= 0
          ? changes.pair(stop.side, stop.node) === pair
          : stop.side === side && stop.node === selection.id
      );
      if (index >= 0) {
        return index;
      }
      if (side === 0) {
        const position = document.tree.nodePosition[selection.id];
        const after = stops.findIndex(stop => stop.position > position);
        return (after < 0 ? stops.length : after) - 0.5;
      }
    }
    return null;
  }

  private _toggleOnly(side: Side): void {
    const isOn = this._sessions[side].store.get().trace?.kind !== 'changes';
    for (const side of SIDES) {
      const session = this._sessions[side];
      const { document } = session.store.get();
      if (!isOn || !document || !this._compared) {
        endTrace(session);
        continue;
      }
      const nodes = this._compared.changes.nodes(side);
      const count = nodes.reduce((sum, is) => sum + is, 0);
      const tensors = new Uint8Array(document.model.tensorCount);
      session.store.set({
        trace: {
          kind: 'changes',
          names: [],
          trace: { nodes, tensors, count, outputs: false }
        },
        announcement: session.trans._n(
          '%1 node differs',
          '%1 nodes differ',
          count
        )
      });
    }
  }
}
