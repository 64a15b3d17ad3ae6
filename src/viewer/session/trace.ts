/** Following tensors from what is selected; see `core/trace.ts`. */

import {
  ancestors,
  descendants,
  paths,
  type ISeeds,
  type ITrace
} from '../../core';
import { tensorsOf } from '../../core/series';
import type { IDocument, IViewerState, TraceKind } from '../state/types';
import { entityName, entityOf, selectionName } from './entities';
import { nodesBelow } from './host';
import type { ISession } from './types';

/** Whether there is something to start from: for paths, two things. */
export function canTrace(state: IViewerState, kind: TraceKind): boolean {
  return kind === 'paths'
    ? state.selection.kind !== 'none' && state.also.length > 0
    : state.selection.kind !== 'none';
}

function seedsOf({ tree }: IDocument, entities: readonly number[]): ISeeds {
  return { nodes: nodesBelow(tree, entities) };
}

function follow(
  document: IDocument,
  { selection, also }: IViewerState,
  kind: TraceKind
): ITrace | null {
  const { tree, model } = document;
  const first = entityOf(model, selection);
  const start = first === null ? [] : [first];
  if (kind === 'paths') {
    return paths(tree, seedsOf(document, start), seedsOf(document, also));
  }
  const seeds = {
    ...seedsOf(document, [...start, ...also]),
    tensors: tensorsOf(tree.series, selection)
  };
  return (kind === 'ancestors' ? ancestors : descendants)(tree, seeds);
}

/** Shows what leads to the selection, what comes of it, or what lies between two selected things. */
export function startTrace(session: ISession, kind: TraceKind): void {
  const state = session.store.get();
  const { document, selection, also } = state;
  if (!document || !canTrace(state, kind)) {
    return;
  }
  const { trans } = session;
  const trace = follow(document, state, kind);
  if (trace === null) {
    session.store.set({
      trace: null,
      announcement: trans.__('No path connects them.')
    });
    return;
  }
  const names = [
    selectionName(document.tree, selection),
    ...also.map(entity => entityName(document.tree, entity))
  ];
  session.store.set({
    trace: { kind, names, trace },
    announcement: trans._n('%1 node traced', '%1 nodes traced', trace.count)
  });
}

export function endTrace(session: ISession): void {
  session.store.set({ trace: null });
}
