/** Traces tensors from the selection; see `core/trace/dataflowTrace.ts`. */

import {
  collectAncestors,
  collectDescendants,
  pathsBetween,
  type ISeeds,
  type ITrace
} from '../../core/trace/dataflowTrace';
import { tensorIdsOf } from '../../core/tree/tensorSeries';
import type { IDocument, IViewerState, TraceKind } from '../state/types';
import { entityName, entityOf, selectionName } from './entityNames';
import { descendantNodes } from './hostSelection';
import type { ISession } from './types';

function seedsOf({ tree }: IDocument, entities: readonly number[]): ISeeds {
  return { nodes: descendantNodes(tree, entities) };
}

function traceOf(
  document: IDocument,
  { selection, moreSelected }: IViewerState,
  kind: TraceKind
): ITrace | null {
  const { tree, model } = document;
  const first = entityOf(model, selection);
  const start = first === null ? [] : [first];
  if (kind === 'paths') {
    return pathsBetween(
      tree,
      seedsOf(document, start),
      seedsOf(document, moreSelected)
    );
  }
  const seeds = {
    ...seedsOf(document, [...start, ...moreSelected]),
    tensors: tensorIdsOf(tree.series, selection)
  };
  return (kind === 'ancestors' ? collectAncestors : collectDescendants)(
    tree,
    seeds
  );
}

/** Computes a trace and shows it. */
export function showTrace(
  session: ISession,
  document: IDocument,
  state: IViewerState,
  kind: TraceKind
): void {
  const { selection, moreSelected } = state;
  const { trans } = session;
  const trace = traceOf(document, state, kind);
  if (trace === null) {
    session.store.set({
      trace: null,
      announcement: trans.__('No path connects them.')
    });
    return;
  }
  const names = [
    selectionName(document.tree, selection),
    ...moreSelected.map(entity => entityName(document.tree, entity))
  ];
  session.store.set({
    trace: { kind, names, trace },
    announcement: trans._n('%1 node traced', '%1 nodes traced', trace.count)
  });
}
