/** Sizes of cards before layout, from measured text. */
import type { IGraphModel, ISizer, ITree } from '../../core/types';
import { type ICardDetails } from './api';

/** A sizer for the model's cards; the same `details` must be given to the surface. */
export declare function createSizer(
  model: IGraphModel,
  tree: ITree,
  details?: ICardDetails
): ISizer;
