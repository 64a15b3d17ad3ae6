/** Differences of two models shown as one graph: its colours, and navigation from change to change. */

import type { IChanges } from '../../core/matching/alignmentChanges';
import type { Session } from '../session/session';
import type { ISessionListener } from '../session/types';
import { endTrace } from '../session/traceActions';
import {
  ADDED,
  firstUnmatched,
  setMergedOverlay,
  REMOVED
} from './mergedOverlay';
import type { MergedProvider } from './mergedProvider';
import { DEFAULT_LINK, type ILinkedView } from '../state/linkedViews';
import type { IGroupTree } from '../../core/tree/treeTypes';

/**
 * Shows the differences in `session`, whose model comes from `provider`, and drives its comparison bar.
 */
export class MergedChanges {
  private _tree: IGroupTree | null = null;
  /** Waits for the initial view. */
  private _sceneListener: ISessionListener | null = null;
  private readonly _stop: () => void;

  constructor(
    private readonly _session: Session,
    private readonly _provider: MergedProvider,
    private readonly _end: () => void
  ) {
    this._stop = _session.store.subscribe(() => this._follow());
    this._follow();
  }

  dispose(): void {
    this._stop();
    this._unhook();
  }

  private _follow(): void {
    const { store, trans } = this._session;
    const { document } = store.get();
    if (!document || document.tree === this._tree) {
      return;
    }
    const { tree } = document;
    this._tree = tree;
    const { changes, changeBits, added } = setMergedOverlay(
      tree,
      this._provider.merged,
      trans
    );
    this._showFirst(firstUnmatched(tree, changeBits));
    const count = (state: number): number =>
      tree.nodeOrder.reduce(
        (sum, node) => sum + Number(changeBits[node] === state),
        0
      );
    store.set({
      overlay: 'changes',
      userValues: store.get().userValues + 1,
      linkedView: this._linkedView(changes, added, [
        count(REMOVED),
        count(ADDED)
      ])
    });
  }

  private _unhook(): void {
    if (this._sceneListener) {
      this._session.listeners.delete(this._sceneListener);
      this._sceneListener = null;
    }
  }

  /** A repeat shows one of its instances: the one with the first added or removed box. */
  private _showFirst(node: number | null): void {
    if (node === null) {
      return;
    }
    this._sceneListener = {
      onScene: () => {
        const { graph } = this._session;
        // Until something is laid out, the scene is empty.
        if ((graph.surface?.scene?.boxCount ?? 0) > 0) {
          this._unhook();
          // The picture is still being set.
          setTimeout(() => void graph.reveal(node));
        }
      }
    };
    this._session.listeners.add(this._sceneListener);
  }

  private _linkedView(
    changes: IChanges,
    added: (entity: number) => boolean,
    only: readonly [number, number]
  ): ILinkedView {
    const { sides, columns } = this._provider;
    const names = sides.map(({ payload }) => payload.model.name);
    const nodes = changes.nodes(0).length;
    return {
      side: 0,
      name: names.join(' → '),
      model: null,
      counts: { matched: nodes, guessed: 0, nodes: [nodes, nodes], only },
      synced: { kind: 'nothing' },
      compared: {
        columns,
        changes,
        added,
        step: (_side, step) => this._step(changes, step),
        toggleOnly: () => this._toggleOnly(changes)
      },
      conflicts: [],
      provider: sides[1].provider,
      merged: false,
      toggleMerged: this._end,
      options: DEFAULT_LINK,
      setOptions: () => undefined,
      selectUnmatched: () => undefined,
      end: this._end
    };
  }

  private _step(changes: IChanges, step: 1 | -1): void {
    const { store, trans } = this._session;
    const stops = changes.differing[0];
    if (stops.length === 0) {
      store.set({ announcement: trans.__('Nothing differs.') });
      return;
    }
    const { selection } = store.get();
    const positions = this._tree!.nodePosition;
    const current = selection.kind === 'node' ? positions[selection.id] : -1;
    const after = stops.findIndex(node => positions[node] > current);
    const before = stops.filter(node => positions[node] < current).length - 1;
    const next = step > 0 ? after : current >= 0 ? before : -1;
    const index = next >= 0 ? next : step > 0 ? 0 : stops.length - 1;
    this._session.select({ kind: 'node', id: stops[index] }, 'reveal');
    store.set({
      announcement: trans.__('Change %1 of %2', index + 1, stops.length)
    });
  }

  private _toggleOnly(changes: IChanges): void {
    const session = this._session;
    const { store, trans } = session;
    const { document, trace } = store.get();
    if (!document || trace?.kind === 'changes') {
      endTrace(session);
      return;
    }
    const nodes = changes.nodes(0);
    const count = nodes.reduce((sum, is) => sum + is, 0);
    const tensors = new Uint8Array(document.model.tensorCount);
    store.set({
      trace: {
        kind: 'changes',
        names: [],
        trace: { nodes, tensors, count, outputs: false }
      },
      announcement: trans._n('%1 node differs', '%1 nodes differ', count)
    });
  }
}
