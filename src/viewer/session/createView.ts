/** Creates the graph view of a document. */

import type { ILayoutEngine } from '../../core/layout/engine/layoutEngine';
import { createGraphView } from '../../core/view/graphView';
import type { Flow, IGraphView, IRowWidth, ISizer } from '../../core/types';
import type { ICamera, ICardDetails } from '../graph/surfaceApi';
import type { createSizer } from '../graph/cards/cardSizer';
import type { IDocument } from '../state/types';

/** How a document is first shown. */
export interface IShowOptions {
  /** Groups to open; if absent, the view decides. */
  readonly open?: readonly number[];
  readonly camera?: ICamera;
  /** Entities to hide. */
  readonly hidden?: readonly number[];
  /** Rows in which `open` was drawn; if absent, chosen for the pane. */
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
