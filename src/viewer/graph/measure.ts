/** Sizes of cards before layout, from measured text. */
import type { IGraphModel, ISizer, ITree } from '../../core/types';
import { DEFAULT_DETAILS, type ICardDetails } from './api';
import { Cards } from './card';
import { PILL_SIZE } from './metrics';
import { pageMeasure } from './text';

const PILL_HEIGHT = 26;
const PILL_PAD = 12;
const WIDEST_PILL = 180;

/** A sizer for the model's cards; the same `details` must be given to the surface. */
export function createSizer(
  model: IGraphModel,
  tree: ITree,
  details: ICardDetails = DEFAULT_DETAILS
): ISizer {
  const cards = new Cards(model, tree, details);
  const text = pageMeasure();
  return {
    node: node => size(cards.of(node)),
    group: group => size(cards.of(model.nodeCount + group)),
    pill: label => ({
      w: Math.ceil(
        Math.min(
          WIDEST_PILL,
          text.width(label.slice(0, 64), PILL_SIZE, 500) + 2 * PILL_PAD
        )
      ),
      h: PILL_HEIGHT
    })
  };
}

function size(card: { w: number; h: number }): { w: number; h: number } {
  return { w: card.w, h: card.h };
}
