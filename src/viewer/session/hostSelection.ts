/** A session's selection in the host's terms: node ids. */

import { tensorIdsOf } from '../../core/tree/tensorSeries';
import type { ITree } from '../../core/types';
import type { IUserValues } from '../overlays';
import { setUserValues } from '../overlays';
import type { IViewerState } from '../state/types';
import { NO_SELECTION } from '../state/types';
import { entityOf } from './entityNames';
import type { ISession } from './types';

/** Adds the nodes of an entity, for a group at any depth. */
function addNodes(tree: ITree, entity: number, into: Set<number>): void {
  const { nodeCount } = tree.model;
  const stack = [entity];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (next < nodeCount) {
      into.add(next);
    } else {
      stack.push(...tree.children[next - nodeCount + 1]);
    }
  }
}

/** Nodes of the entities, for groups at any depth, each once, ascending. */
export function descendantNodes(
  tree: ITree,
  entities: readonly number[]
): number[] {
  const nodes = new Set<number>();
  for (const entity of entities) {
    addNodes(tree, entity, nodes);
  }
  return [...nodes].sort((a, b) => a - b);
}

/** Ids of the selected nodes, ascending. A tensor selects none. */
export function selectedNodes({
  document,
  selection,
  moreSelected
}: IViewerState): number[] {
  const first = document ? entityOf(document.model, selection) : null;
  return document
    ? descendantNodes(
        document.tree,
        first === null ? moreSelected : [first, ...moreSelected]
      )
    : [];
}

/** Names of the selected tensors; for a pill, of all its tensors. */
export function selectedTensorNames({
  document,
  selection
}: IViewerState): string[] {
  return document
    ? tensorIdsOf(document.tree.series, selection).map(tensor =>
        document.model.tensorName(tensor)
      )
    : [];
}

export function selectNodes(session: ISession, nodes: readonly number[]): void {
  const { document } = session.store.get();
  if (!document) {
    return;
  }
  const { nodeCount } = document.model;
  const [first, ...moreSelected] = nodes.filter(
    node => Number.isInteger(node) && node >= 0 && node < nodeCount
  );
  if (first === undefined) {
    session.select(NO_SELECTION);
    return;
  }
  session.select({ kind: 'node', id: first }, 'reveal');
  session.store.set({ moreSelected });
}

/** Shows the host's values; null removes them together with their overlay. */
export function showUserValues(
  session: ISession,
  values: IUserValues | null
): void {
  const { document, overlay, userValues } = session.store.get();
  session.userValues = values;
  if (document) {
    setUserValues(document.tree, values);
  }
  session.store.set({
    userValues: userValues + 1,
    overlay: values ? 'user' : overlay === 'user' ? null : overlay
  });
}
