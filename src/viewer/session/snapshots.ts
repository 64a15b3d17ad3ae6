/** Captures a view for storage, and restores it. */

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
    // Changes need a comparison, which may not exist after a reload.
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

/** The fields of a snapshot that are part of the state unchanged. */
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

/** Applies a snapshot to the current view. Returns true if its sizes need an analysis. */
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
