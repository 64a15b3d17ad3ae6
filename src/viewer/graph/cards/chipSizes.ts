/** Widths of the chips on a card. */
import { chipGroups, chipText } from '../../../core/tree/chips';
import type { ITree } from '../../../core/types';
import { LABEL_SIZE } from '../style/metrics';
import { cleanText, type TextMeasure } from '../text/textMeasure';

/** Gap between two chips. */
export const CHIP_GAP = 4;
const CHIP_INSET = 6;

export interface IChip {
  readonly group: number;
  /** `sizes · 5`. */
  readonly text: string;
  readonly w: number;
}

/** The chips that an entity's card may have. */
export function chipsFor(
  tree: ITree,
  entity: number,
  measure: TextMeasure
): readonly IChip[] {
  return chipGroups(tree, entity).map(group => {
    const text = cleanText(chipText(tree, group));
    return {
      group,
      text,
      w: measure.width(text, LABEL_SIZE, 500) + 2 * CHIP_INSET
    };
  });
}

/** Width of chips next to a title. */
export function chipsWidth(chips: readonly IChip[]): number {
  return chips.reduce((sum, { w }) => sum + w + CHIP_GAP, 0);
}
