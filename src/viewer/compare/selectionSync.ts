/** Synchronises selection and hover from one view to the other. */

import type { IMatching, Side } from '../../core/matching/matchers';
import { pillTensorRef } from '../../core/tree/tensorSeries';
import { boxRect, intersects, visibleRect } from '../graph/geometry/camera';
import { ownBox } from '../graph/scene/entityBoxes';
import {
  entityName,
  entityOf,
  sameList,
  sameSelection,
  selectionName,
  selectionOf
} from '../session/entityNames';
import { highlightEntities } from '../session/externalHighlight';
import type { Session } from '../session/session';
import type { IHitTarget } from '../graph/surfaceApi';
import { NO_SELECTION, type IDocument, type Selection } from '../state/types';
import type { SelectionSyncResult } from '../state/linkedViews';

/** The part of the state that is synchronised. */
export interface ISelectionState {
  readonly selection: Selection;
  readonly moreSelected: readonly number[];
}

export function selectionStateOf(session: Session): ISelectionState {
  const { selection, moreSelected } = session.store.get();
  return { selection, moreSelected };
}

/** True if the entity's own box is drawn and in view, so that the camera need not move. */
function isInView(session: Session, entity: number): boolean {
  const { surface } = session.graph;
  const scene = surface?.scene ?? null;
  if (!surface || scene === null) {
    return false;
  }
  const box = ownBox(scene, entity);
  const { view, camera } = surface;
  return (
    box >= 0 &&
    camera.k > 0.2 &&
    intersects(boxRect(scene, box), visibleRect(camera, view, -24))
  );
}

/** Selects several entities, the first as the primary one; none clears the selection. */
function selectEntities(
  to: Session,
  document: IDocument,
  entities: readonly number[]
): void {
  const [first, ...moreSelected] = entities;
  if (first === undefined) {
    to.select(NO_SELECTION);
  } else {
    const next = selectionOf(document.model, first);
    // If it is already selected there, the camera stays where the user put it.
    const isSame = sameSelection(to.store.get().selection, next);
    to.select(next, isSame || isInView(to, first) ? 'none' : 'reveal');
  }
  if (!sameList(to.store.get().moreSelected, moreSelected)) {
    to.store.set({ moreSelected });
  }
}

/** Selects in `to` the counterparts of the selection in `from`, which is the view `side`. */
export function syncSelection(
  from: Session,
  to: Session,
  matching: IMatching,
  side: Side
): SelectionSyncResult {
  const { document, selection, moreSelected } = from.store.get();
  const target = to.store.get().document;
  if (
    !document ||
    !target ||
    (selection.kind === 'none' && moreSelected.length === 0)
  ) {
    to.select(NO_SELECTION);
    return { kind: 'nothing' };
  }
  const missingResult = (count: number, of: number): SelectionSyncResult => ({
    kind: 'missing',
    from: side,
    name: selectionName(document.tree, selection),
    missing: count,
    of
  });
  if (selection.kind === 'tensor' || selection.kind === 'series') {
    const id = matching.tensor(side, selection.id);
    const counterpart: Selection =
      id < 0
        ? NO_SELECTION
        : selection.kind === 'series'
          ? pillTensorRef(target.tree.series, id)
          : { kind: 'tensor', id };
    to.select(counterpart, 'reveal');
    return counterpart.kind === 'none'
      ? missingResult(1, 1)
      : {
          kind: 'found',
          name: selectionName(target.tree, counterpart),
          rule: null
        };
  }
  const first = entityOf(document.model, selection);
  const entities = [...(first === null ? [] : [first]), ...moreSelected];
  const counterparts = entities
    .map(entity => matching.counterpart(side, entity))
    .filter(entity => entity >= 0);
  selectEntities(to, target, counterparts);
  if (counterparts.length < entities.length) {
    return missingResult(
      entities.length - counterparts.length,
      entities.length
    );
  }
  const single = entities.length === 1 && selection.kind === 'node';
  return {
    kind: 'found',
    name: entityName(target.tree, counterparts[0]),
    rule: single ? matching.rule(side, selection.id) : null
  };
}

/** Highlights in `to` the counterpart of the entity under the pointer in `from`. */
export function syncHover(
  target: IHitTarget,
  to: Session,
  matching: IMatching,
  side: Side
): void {
  const counterpart =
    target?.kind === 'entity' ? matching.counterpart(side, target.id) : -1;
  highlightEntities(to, counterpart < 0 ? [] : [counterpart]);
}

export function sameSelectionState(
  a: ISelectionState,
  b: ISelectionState
): boolean {
  return (
    sameSelection(a.selection, b.selection) &&
    sameList(a.moreSelected, b.moreSelected)
  );
}
