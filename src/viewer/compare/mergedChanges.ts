/** What differs, in a picture of both models as one graph: its colours, the way from change to change. */

import { Changes, type IChanges } from '../../core/matchingGiven';
import type { IGroupTree } from '../../core/tree';
import { setChanges } from '../overlays';
import type { IFollower, Session } from '../session/session';
import { endTrace } from '../session/trace';
import { kindText } from './kinds';
import type { MergedProvider } from './mergedProvider';
import { DEFAULT_LINK, type ICompanion } from './types';

const NEITHER = 0;
const REMOVED = 1;
const ADDED = 2;
const MIXED = 3;

/** By node and group: whether all of it was removed, or added. */
function fates(
  tree: IGroupTree,
  changes: IChanges,
  side: Uint8Array
): Uint8Array {
  const { nodeCount } = tree.model;
  const found = new Uint8Array(nodeCount + tree.groupCount).fill(NEITHER);
  for (let node = 0; node < nodeCount; node++) {
    if (changes.state(0, node) === 'only') {
      found[node] = side[node] === 0 ? REMOVED : ADDED;
    }
  }
  const add = (group: number, fate: number): void => {
    if (group >= 0) {
      found[nodeCount + group] |= fate;
    }
  };
  tree.nodeOrder.forEach(node => add(tree.nodeParent[node], found[node]));
  for (let group = tree.groupCount - 1; group >= 0; group--) {
    add(tree.groupParent[group], found[nodeCount + group]);
  }
  return found;
}

/** Paints what differs in `session`, whose model is that of `provider`, and drives its bar. */
export class MergedChanges {
  private _tree: IGroupTree | null = null;
  /** Waits for the first picture. */
  private _first: IFollower | null = null;
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
    const { alignment, side } = this._provider.merged;
    const changes = new Changes(alignment, [tree, tree]);
    const fate = fates(tree, changes, side);
    const added = (entity: number): boolean => fate[entity] === ADDED;
    setChanges(tree, {
      second: false,
      added,
      trans,
      state: entity => {
        const state = changes.state(0, entity);
        return state === 'only' && fate[entity] === MIXED ? 'changed' : state;
      },
      about: entity =>
        changes
          .kinds(0, entity)
          .map(kind => kindText(kind, trans))
          .join(', ')
    });
    this._showFirst(tree, fate);
    const count = (what: number): number =>
      tree.nodeOrder.reduce(
        (sum, node) => sum + Number(fate[node] === what),
        0
      );
    store.set({
      overlay: 'changes',
      userValues: store.get().userValues + 1,
      companion: this._companion(changes, added, [count(REMOVED), count(ADDED)])
    });
  }

  private _unhook(): void {
    if (this._first) {
      this._session.followers.delete(this._first);
      this._first = null;
    }
  }

  /** A repeat shows one of its parts: that of the first box which came or went. */
  private _showFirst(tree: IGroupTree, fate: Uint8Array): void {
    const { nodeCount } = tree.model;
    const lone = (one: number): boolean => one === REMOVED || one === ADDED;
    const first = tree.nodeOrder.find(node => lone(fate[node]));
    if (first === undefined) {
      return;
    }
    let shown = first;
    let folded = false;
    let group = tree.nodeParent[first];
    for (; group >= 0; group = tree.groupParent[group]) {
      if (this._whole(tree, fate, group)) {
        shown = nodeCount + group;
      }
      folded ||= tree.groupFold[group] === 1;
    }
    if (!folded) {
      return;
    }
    this._first = {
      onPicture: () => {
        const { stage } = this._session;
        // Until something is laid out, an empty scene stands in.
        if ((stage.surface?.scene?.boxCount ?? 0) > 0) {
          this._unhook();
          // The picture is still being set.
          setTimeout(() => void stage.reveal(shown));
        }
      }
    };
    this._session.followers.add(this._first);
  }

  /** Whether all nodes of a group came or went. */
  private _whole(tree: IGroupTree, fate: Uint8Array, group: number): boolean {
    return tree.nodeOrder
      .subarray(tree.groupStart[group], tree.groupEnd[group])
      .every(node => fate[node] !== NEITHER);
  }

  private _companion(
    changes: IChanges,
    added: (entity: number) => boolean,
    only: readonly [number, number]
  ): ICompanion {
    const { sides, columns } = this._provider;
    const names = sides.map(({ payload }) => payload.model.name);
    const nodes = changes.nodes(0).length;
    return {
      side: 0,
      name: names.join(' → '),
      model: null,
      counts: { matched: nodes, guessed: 0, nodes: [nodes, nodes], only },
      carried: { kind: 'nothing' },
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
      selectOnly: () => undefined,
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
    const place = this._tree!.nodePlace;
    const here = selection.kind === 'node' ? place[selection.id] : -1;
    const after = stops.findIndex(node => place[node] > here);
    const before = stops.filter(node => place[node] < here).length - 1;
    const next = step > 0 ? after : here >= 0 ? before : -1;
    const at = next >= 0 ? next : step > 0 ? 0 : stops.length - 1;
    this._session.select({ kind: 'node', id: stops[at] }, 'reveal');
    store.set({
      announcement: trans.__('Change %1 of %2', at + 1, stops.length)
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
