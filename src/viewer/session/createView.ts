/** Makes the graph view of a document. */

import type { ILayoutEngine } from '../../core/layout/engine/layoutEngine';
import { createGraphView } from '../../core/view/graphView';
import type { Flow, IGraphView, IRowWidth, ISizer } from '../../core/types';
import type { ICamera, ICardDetails } from '../graph/surfaceApi';
import type { createSizer } from '../graph/cards/cardSizer';
import type { IDocument } from '../state/types';

/** How a document is first shown. */
export interface IShowOptions {
  /** Groups to open; the view's own choice when absent. */
  readonly open?: readonly number[];
  readonly camera?: ICamera;
  /** Entities to leave out. */
  readonly hidden?: readonly number[];
  /** Rows that `open` was drawn in; chosen for the pane when absent. */
  readonly rows?: IRowWidth | null;
}

export function createView(
  { model, tree }: IDocument,
  sizerFor: typeof createSizer,
  details: ICardDetails,
  flow: Flow,
  engine?: ILayoutEngine
): IGraphView {
  const sizer: ISizer = sizerFor(model, tree, details);
  return createGraphView(tree, sizer, engine, flow);
}
