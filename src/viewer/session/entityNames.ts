/** Selections, entities, and the names by which both are restored after a reload. */

import { pillTensorRef, pillText } from '../../core/tree/tensorSeries';
import type { IGraphModel, IRowWidth, ITree } from '../../core/types';
import { displayedEntity } from '../../core/tree/chips';
import type { IDocument, Selection, IViewerState } from '../state/types';
import { NO_SELECTION } from '../state/types';
import {
  MAX_SELECTION_RECORDS,
  type ISelectionRecord
} from '../state/selectionRecords';

/** Entity of a selection; null for tensors and no selection. */
export function entityOf(
  model: IGraphModel,
  selection: Selection
): number | null {
  switch (selection.kind) {
    case 'node':
      return selection.id;
    case 'group':
      return model.nodeCount + selection.id;
    default:
      return null;
  }
}

/** A node's name, or its operator if unnamed; a group's label. */
export function entityName(tree: ITree, entity: number): string {
  const { model } = tree;
  const face = displayedEntity(tree, entity);
  return face < model.nodeCount
    ? model.nodeName(face) || model.opType(face)
    : tree.groupLabel[face - model.nodeCount];
}

/** Name of a selection; that of the pill for a series; empty for no selection. */
export function selectionName(tree: ITree, selection: Selection): string {
  switch (selection.kind) {
    case 'none':
      return '';
    case 'tensor':
      return tree.model.tensorName(selection.id);
    case 'series':
      return pillText(tree, selection.id);
    default:
      return entityName(tree, entityOf(tree.model, selection)!);
  }
}

export function selectionOf(model: IGraphModel, entity: number): Selection {
  return entity < model.nodeCount
    ? { kind: 'node', id: entity }
    : { kind: 'group', id: entity - model.nodeCount };
}

export function sameSelection(a: Selection, b: Selection): boolean {
  return (
    a.kind === b.kind &&
    (a.kind === 'none' || (b.kind !== 'none' && a.id === b.id))
  );
}

/** Key of a group: its path of labels, which identifies the same module after a reload. */
function groupKey(tree: ITree, group: number): string {
  return JSON.stringify([
    ...tree.path(tree.model.nodeCount + group),
    tree.groupLabel[group]
  ]);
}

export function groupKeys(tree: ITree, groups: readonly number[]): string[] {
  return groups.map(group => groupKey(tree, group));
}

/** Groups with these keys; keys that no longer exist are ignored. */
export function groupsOf(tree: ITree, keys: readonly string[]): number[] {
  const keySet = new Set(keys);
  const entities: number[] = [];
  for (let group = 0; keySet.size > 0 && group < tree.groupCount; group++) {
    if (keySet.has(groupKey(tree, group))) {
      entities.push(group);
    }
  }
  return entities;
}

export function toRecord(tree: ITree, selection: Selection): ISelectionRecord {
  const { model } = tree;
  switch (selection.kind) {
    case 'node':
      return { ...selection, name: model.nodeName(selection.id) };
    case 'tensor':
    case 'series':
      return { ...selection, name: model.tensorName(selection.id) };
    case 'group':
      return { ...selection, name: groupKey(tree, selection.id) };
    default:
      return { kind: 'none', id: -1, name: '' };
  }
}

/** The selection of a record in this model; none if it no longer exists. */
export function fromRecord(tree: ITree, record: ISelectionRecord): Selection {
  const { model } = tree;
  const find = (count: number, nameOf: (id: number) => string): number => {
    if (record.id < count && nameOf(record.id) === record.name) {
      return record.id;
    }
    for (let id = 0; id < count; id++) {
      if (nameOf(id) === record.name) {
        return id;
      }
    }
    return -1;
  };
  const by: Record<string, () => number> = {
    node: () => find(model.nodeCount, id => model.nodeName(id)),
    tensor: () => find(model.tensorCount, id => model.tensorName(id)),
    // If the file has changed, it may no longer be a series.
    series: () => find(model.tensorCount, id => model.tensorName(id)),
    group: () => find(tree.groupCount, id => groupKey(tree, id))
  };
  if (record.kind === 'none') {
    return NO_SELECTION;
  }
  const id = by[record.kind]();
  return id < 0
    ? NO_SELECTION
    : record.kind === 'series'
      ? pillTensorRef(tree.series, id)
      : { kind: record.kind, id };
}

/** Records of the additional selection; undefined if it is empty or too large. */
export function additionalToRecords(
  { tree, model }: IDocument,
  moreSelected: readonly number[]
): ISelectionRecord[] | undefined {
  return moreSelected.length > 0 && moreSelected.length <= MAX_SELECTION_RECORDS
    ? moreSelected.map(entity => toRecord(tree, selectionOf(model, entity)))
    : undefined;
}

/** The entities of records that still match; no search for those that do not. */
export function additionalFromRecords(
  { tree, model }: IDocument,
  records: readonly ISelectionRecord[] | undefined
): number[] {
  return (records ?? []).flatMap(({ kind, id, name }) => {
    const count = kind === 'node' ? model.nodeCount : tree.groupCount;
    const isEntity = kind === 'node' || kind === 'group';
    if (!isEntity || id >= count) {
      return [];
    }
    const now = toRecord(tree, { kind, id });
    return now.name === name ? [entityOf(model, { kind, id }) ?? -1] : [];
  });
}

/** True if both have the same rows. */
export function sameRows(a: IRowWidth | null, b: IRowWidth | null): boolean {
  return (
    a?.room === b?.room && a?.beside === b?.beside && a?.compact === b?.compact
  );
}

export function sameList(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}

/** The selected nodes and groups. */
export function selectedEntities(
  state: Pick<IViewerState, 'document' | 'selection' | 'moreSelected'>
): number[] {
  const { document, selection, moreSelected } = state;
  const first = document ? entityOf(document.model, selection) : null;
  return [...(first === null ? [] : [first]), ...moreSelected];
}
