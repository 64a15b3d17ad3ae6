/** Sizes of cards before layout, from measured text. */
import type { IGraphModel, ISizer, ITree } from '../../core/types';
import {
  DEFAULT_DETAILS,
  DEFAULT_STRINGS,
  type ICardDetails,
  type ISurfaceStrings
} from './api';
import { Cards } from './card';
import { CHEVRON, PAD_X, PILL_SIZE, STEP, TITLE_SIZE } from './metrics';
import { pageMeasure } from './text';

const PILL_HEIGHT = 26;
const PILL_PAD = 12;
const WIDEST_PILL = 180;
/** Room for the control in the title of a repeat. */
const STEPPER = 2 * STEP + 50;

/** A sizer for the model's cards; the same details and strings must be given to the surface. */
export function createSizer(
  model: IGraphModel,
  tree: ITree,
  details: ICardDetails = DEFAULT_DETAILS,
  strings: ISurfaceStrings = DEFAULT_STRINGS
): ISizer {
  const cards = new Cards(model, tree, details, strings);
  const text = pageMeasure();
  return {
    node: (node, compact) => size(cards, node, compact),
    group: (group, compact) => size(cards, model.nodeCount + group, compact),
    title: group => {
      const { title } = cards.of(model.nodeCount + group);
      const width = text.width(title, TITLE_SIZE, 600);
      const more = tree.groupFold[group] ? STEPPER : 0;
      return Math.ceil(PAD_X + CHEVRON + width + more + PAD_X);
    },
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

function size(
  cards: Cards,
  entity: number,
  compact = false
): { w: number; h: number } {
  const { w, h } = compact ? cards.short(entity) : cards.of(entity);
  return { w, h };
}
