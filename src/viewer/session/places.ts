/** Where the reader was: Back and Forward through selections and views. */

import type { IPlace, Selection } from '../state/types';
import { sameList, sameRows, sameSelection } from './entities';
import type { ISession } from './types';

/** How far back Backspace can go. */
const HISTORY = 100;

function placeOf(session: ISession): IPlace {
  const { selection, also, hidden, direction } = session.store.get();
  const { stage } = session;
  return {
    selection,
    also,
    hidden,
    direction,
    open: stage.openGroups(),
    rows: stage.rows,
    camera: stage.camera
  };
}

function samePicture(a: IPlace, b: IPlace): boolean {
  return (
    sameList(a.open, b.open) &&
    sameList(a.hidden, b.hidden) &&
    a.direction === b.direction &&
    sameRows(a.rows, b.rows)
  );
}

/** The same picture with the same selection; the camera does not count. */
function samePlace(a: IPlace, b: IPlace): boolean {
  return (
    sameSelection(a.selection, b.selection) &&
    sameList(a.also, b.also) &&
    samePicture(a, b)
  );
}

function pushed(list: readonly IPlace[], place: IPlace): readonly IPlace[] {
  const last = list[list.length - 1];
  return last && samePlace(last, place)
    ? list
    : [...list, place].slice(-HISTORY);
}

/** Call before what is shown changes: Back will lead here. */
export function remember(session: ISession): void {
  const { back, document } = session.store.get();
  if (document) {
    session.store.set({ back: pushed(back, placeOf(session)), forward: [] });
  }
}

/** The change to the state that selecting something makes, history included. */
export function selecting(session: ISession, selection: Selection): void {
  const { selection: before } = session.store.get();
  if (before.kind !== 'none') {
    remember(session);
  }
  session.store.set({ selection, also: [] });
}

/** Goes to the last place in a list and keeps the present one in the other. */
async function travel(session: ISession, forward: boolean): Promise<void> {
  const state = session.store.get();
  const from = forward ? state.forward : state.back;
  const place = from[from.length - 1];
  if (!place || !state.document) {
    return;
  }
  const here = placeOf(session);
  const rest = from.slice(0, -1);
  const { selection, also, direction } = place;
  session.store.set({
    selection,
    also,
    direction,
    ...(forward
      ? { forward: rest, back: pushed(state.back, here) }
      : { back: rest, forward: pushed(state.forward, here) })
  });
  const { stage } = session;
  if (!samePicture(place, here)) {
    await stage.settled();
    await stage.change(view =>
      view.restore(place.open, place.hidden, place.rows)
    );
  }
  if (place.camera) {
    stage.surface?.setCamera(place.camera, true);
  }
}

export const goBack = (session: ISession): Promise<void> =>
  travel(session, false);

export const goForward = (session: ISession): Promise<void> =>
  travel(session, true);
