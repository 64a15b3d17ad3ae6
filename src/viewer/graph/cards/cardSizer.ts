/** Card sizes before layout, from measured text. */
import type { IGraphModel, ISizer, ITree } from '../../../core/types';
import {
  DEFAULT_DETAILS,
  DEFAULT_STRINGS,
  type ICardDetails,
  type ISurfaceStrings
} from '../surfaceApi';
import { CardContents } from './cardContents';
import {
  CHEVRON_W,
  CARD_PAD_X,
  PILL_SIZE,
  STEPPER_ARROW_W,
  TITLE_SIZE
} from '../style/metrics';
import { pageTextMeasure } from '../text/textMeasure';

const PILL_HEIGHT = 26;
const PILL_PAD = 12;
const MAX_PILL_W = 180;
/** Width of the stepper in the title of a repeat. */
const STEPPER = 2 * STEPPER_ARROW_W + 50;

/** Creates a sizer for the model's cards; the surface must use the same details and strings. */
export function createSizer(
  model: IGraphModel,
  tree: ITree,
  details: ICardDetails = DEFAULT_DETAILS,
  strings: ISurfaceStrings = DEFAULT_STRINGS
): ISizer {
  const cards = new CardContents(model, tree, details, strings);
  const text = pageTextMeasure();
  return {
    node: (node, compact) => size(cards, node, compact),
    group: (group, compact) => size(cards, model.nodeCount + group, compact),
    title: group => {
      const { title } = cards.of(model.nodeCount + group);
      const width = text.width(title, TITLE_SIZE, 600);
      const more = tree.groupIsRepeat[group] ? STEPPER : 0;
      return Math.ceil(CARD_PAD_X + CHEVRON_W + width + more + CARD_PAD_X);
    },
    pill: label => ({
      w: Math.ceil(
        Math.min(
          MAX_PILL_W,
          text.width(label.slice(0, 64), PILL_SIZE, 500) + 2 * PILL_PAD
        )
      ),
      h: PILL_HEIGHT
    })
  };
}

function size(
  cards: CardContents,
  entity: number,
  compact = false
): { w: number; h: number } {
  const { w, h } = compact ? cards.short(entity) : cards.of(entity);
  return { w, h };
}
