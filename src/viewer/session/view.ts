/** Makes the graph view of a document. */

import type { ILayoutEngine } from '../../core/layout/engine';
import { createGraphView } from '../../core/view';
import type { FlowDirection, IGraphView, ISizer } from '../../core/types';
import type { ICardDetails } from '../graph/api';
import type { createSizer } from '../graph/measure';
import type { IDocument } from '../state/types';

export function makeView(
  { model, tree }: IDocument,
  sizerFor: typeof createSizer,
  details: ICardDetails,
  direction: FlowDirection,
  engine?: ILayoutEngine
): IGraphView {
  const sizer: ISizer = sizerFor(model, tree, details);
  return createGraphView(tree, sizer, engine, direction);
}
