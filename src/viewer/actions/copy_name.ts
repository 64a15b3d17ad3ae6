import { tensorIdsOf } from '../../core/tree/tensorSeries';
import { entityOf } from '../session/entityNames';
import { copyWithFeedback } from '../session/clipboardFeedback';
import type { IAction } from './types';

export const copyName: IAction = {
  id: 'copy-name',
  label: trans => trans.__('Copy the names of the selected items'),
  keys: ['Ctrl+C'],
  // A text selection has priority: the browser copies it.
  enabled: ({ selection }) =>
    selection.kind !== 'none' && !window.getSelection()?.toString(),
  run: ({ session }) => {
    const { document, selection, moreSelected } = session.store.get();
    if (!document) {
      return;
    }
    const { model, tree } = document;
    const first = entityOf(model, selection);
    const names = [...(first === null ? [] : [first]), ...moreSelected].map(
      entity =>
        entity < model.nodeCount
          ? model.nodeName(entity)
          : tree.groupLabel[entity - model.nodeCount]
    );
    const tensors = tensorIdsOf(tree.series, selection);
    names.unshift(...tensors.map(tensor => model.tensorName(tensor)));
    void copyWithFeedback(session, names.join('\n'));
  }
};
