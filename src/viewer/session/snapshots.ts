/** A view as it is remembered between sessions, and taking up one that was. */

import type { ISnapshot } from '../state/snapshot';
import { SNAPSHOT_VERSION } from '../state/snapshot';
import { NO_SELECTION, type IViewerState } from '../state/types';
import { sameDevice, setDevice } from './deviceActions';
import {
  additionalToRecords,
  groupKeys,
  groupsOf,
  fromRecord,
  additionalFromRecords,
  toRecord
} from './entityNames';
import { hiddenOf, hiddenRecord } from './hideActions';
import type { ISession } from './types';

export function captureSnapshot({ store, graph }: ISession): ISnapshot {
  const state = store.get();
  const { overlay, scale, showNames, showWeights, direction, panels } = state;
  const { device, table, bindings, assume, bookmarks, document } = state;
  const view = document
    ? {
        selection: toRecord(document.tree, state.selection),
        also: additionalToRecords(document, state.moreSelected),
        open: groupKeys(document.tree, graph.openGroups()),
        camera: graph.camera ?? undefined,
        hidden: hiddenRecord(document, state.hidden),
        rows: graph.rows
      }
    : {};
  return {
    version: SNAPSHOT_VERSION,
    // Changes are those of a comparison, which may not be there again.
    overlay: overlay === 'changes' ? undefined : overlay,
    scale,
    showNames,
    showWeights,
    direction,
    panels,
    device,
    table,
    bindings,
    assume,
    bookmarks,
    ...view
  };
}

/** The parts of a snapshot that are parts of the state as they are. */
export function snapshotStateFields(
  snapshot: ISnapshot
): Partial<IViewerState> {
  const {
    selection: _selection,
    open: _open,
    camera: _camera,
    hidden: _hidden,
    also: _also,
    rows: _rows,
    version: _version,
    ...fields
  } = snapshot;
  return fields;
}

/** Takes a snapshot over what is shown. True when the model must be analysed for its sizes. */
export async function applySnapshot(
  session: ISession,
  snapshot: ISnapshot
): Promise<boolean> {
  const { store, graph } = session;
  const { selection, also, open, camera, hidden, rows } = snapshot;
  const fields = snapshotStateFields(snapshot);
  const before = store.get();
  store.set(fields);
  if (
    fields.device !== undefined &&
    !sameDevice(fields.device, before.device)
  ) {
    setDevice(session, fields.device);
  }
  const bindings = fields.bindings ?? before.bindings;
  const rebound =
    JSON.stringify(bindings) !== JSON.stringify(before.bindings) ||
    (fields.assume ?? before.assume) !== before.assume;
  const { document } = store.get();
  if (document) {
    store.set({
      selection: selection
        ? fromRecord(document.tree, selection)
        : NO_SELECTION,
      moreSelected: additionalFromRecords(document, also)
    });
    const groups = open && groupsOf(document.tree, open);
    await graph.show(document, {
      open: groups,
      camera,
      hidden: hiddenOf(document, hidden),
      rows
    });
  }
  return rebound;
}
