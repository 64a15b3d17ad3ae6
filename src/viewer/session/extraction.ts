/** Extracts parts of the model as separate models. */

import { problemOf } from '../../providers/provider';
import type { IDocument } from '../state/types';
import { entityName, selectedEntities } from './entityNames';
import { selectedNodes } from './hostSelection';
import type { ISession } from './types';

/** Name of the part: path of the only block or node, otherwise the number of nodes. */
function partName(
  { tree }: IDocument,
  entities: readonly number[],
  nodes: readonly number[]
): string {
  const [only] = entities;
  return entities.length === 1
    ? [...tree.path(only), entityName(tree, only)].join('.')
    : `${nodes.length} nodes`;
}

/** Extracts the selected nodes, including those in selected blocks at any depth, to a file. */
export async function extractSelection(session: ISession): Promise<void> {
  const { provider, store, trans } = session;
  const state = store.get();
  const { document } = state;
  const nodes = selectedNodes(state);
  if (!document || nodes.length === 0) {
    return;
  }
  if (!provider.extract) {
    store.set({
      notice: trans.__(
        'This view cannot write files. Open the model in JupyterLab, or run the cell again.'
      )
    });
    return;
  }
  const name = partName(document, selectedEntities(state), nodes);
  const working = { status: 'working', nodes: nodes.length } as const;
  store.set({ extraction: working, notice: '' });
  try {
    const { signal } = new AbortController();
    const extracted = await provider.extract(nodes, name, signal);
    store.set({ extraction: { status: 'done', extracted } });
    session.files?.added(extracted.path);
  } catch (error) {
    const { detail, hint } = problemOf(error);
    const message = [detail, hint].filter(Boolean).join(' ');
    store.set({
      extraction: null,
      notice: trans.__('The part could not be extracted: %1', message)
    });
  }
}
