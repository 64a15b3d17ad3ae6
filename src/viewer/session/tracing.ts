/** Following tensors from what is selected; see `core/trace.ts`. */

import {
  ancestors,
  descendants,
  paths,
  type ISeeds,
  type ITrace
} from '../../core/trace';
import { tensorsOf } from '../../core/series';
import type { IDocument, IViewerState, TraceKind } from '../state/types';
import { entityName, entityOf, selectionName } from './entities';
import { nodesBelow } from './host';
import type { ISession } from './types';

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

/** Follows, and shows what was found. */
export function showTrace(
  session: ISession,
  document: IDocument,
  state: IViewerState,
  kind: TraceKind
): void {
  const { selection, also } = state;
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
