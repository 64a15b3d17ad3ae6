/** Carries what is selected or pointed at in one view over to the other. */

import type { IMatching, Side } from '../../core/matching';
import { pillTensors } from '../../core/series';
import { boxRect, intersects, visibleRect } from '../graph/camera';
import { exactBox } from '../graph/entities';
import {
  entityName,
  entityOf,
  sameList,
  sameSelection,
  selectionName,
  selectionOf
} from '../session/entities';
import { pointAt } from '../session/pointing';
import type { Session } from '../session/session';
import type { IHover } from '../graph/api';
import { NOTHING, type IDocument, type Selection } from '../state/types';
import type { Carried } from './types';

/** The part of the state that is carried over. */
export interface ISelected {
  readonly selection: Selection;
  readonly also: readonly number[];
}

export function selectedIn(session: Session): ISelected {
  const { selection, also } = session.store.get();
  return { selection, also };
}

/** The entity's own box is drawn and in view, so nothing need move. */
function isInView(session: Session, entity: number): boolean {
  const { surface } = session.stage;
  const scene = surface?.scene ?? null;
  if (!surface || scene === null) {
    return false;
  }
  const box = exactBox(scene, entity);
  const { view, camera } = surface;
  return (
    box >= 0 &&
    camera.k > 0.2 &&
    intersects(boxRect(scene, box), visibleRect(camera, view, -24))
  );
}

/** Selects several entities, the first foremost; none clears the selection. */
function put(
  to: Session,
  document: IDocument,
  entities: readonly number[]
): void {
  const [first, ...also] = entities;
  if (first === undefined) {
    to.select(NOTHING);
  } else {
    const next = selectionOf(document.model, first);
    // What is selected there already stays where its reader put it.
    const known = sameSelection(to.store.get().selection, next);
    to.select(next, known || isInView(to, first) ? 'none' : 'reveal');
  }
  if (!sameList(to.store.get().also, also)) {
    to.store.set({ also });
  }
}

/** Selects in `to` the counterparts of what is selected in `from`, the view `side`. */
export function carrySelection(
  from: Session,
  to: Session,
  matching: IMatching,
  side: Side
): Carried {
  const { document, selection, also } = from.store.get();
  const target = to.store.get().document;
  if (
    !document ||
    !target ||
    (selection.kind === 'none' && also.length === 0)
  ) {
    to.select(NOTHING);
    return { kind: 'nothing' };
  }
  const missing = (count: number, of: number): Carried => ({
    kind: 'missing',
    from: side,
    name: selectionName(document.tree, selection),
    missing: count,
    of
  });
  if (selection.kind === 'tensor' || selection.kind === 'series') {
    const id = matching.tensor(side, selection.id);
    const found: Selection =
      id < 0
        ? NOTHING
        : selection.kind === 'series'
          ? pillTensors(target.tree.series, id)
          : { kind: 'tensor', id };
    to.select(found, 'reveal');
    return found.kind === 'none'
      ? missing(1, 1)
      : { kind: 'found', name: selectionName(target.tree, found), rule: null };
  }
  const first = entityOf(document.model, selection);
  const entities = [...(first === null ? [] : [first]), ...also];
  const found = entities
    .map(entity => matching.counterpart(side, entity))
    .filter(entity => entity >= 0);
  put(to, target, found);
  if (found.length < entities.length) {
    return missing(entities.length - found.length, entities.length);
  }
  const single = entities.length === 1 && selection.kind === 'node';
  return {
    kind: 'found',
    name: entityName(target.tree, found[0]),
    rule: single ? matching.rule(side, selection.id) : null
  };
}

/** Marks in `to` the counterpart of what is under the pointer in `from`. */
export function carryHover(
  what: IHover,
  to: Session,
  matching: IMatching,
  side: Side
): void {
  const found =
    what?.kind === 'entity' ? matching.counterpart(side, what.id) : -1;
  pointAt(to, found < 0 ? [] : [found]);
}

export function sameSelected(a: ISelected, b: ISelected): boolean {
  return sameSelection(a.selection, b.selection) && sameList(a.also, b.also);
}
