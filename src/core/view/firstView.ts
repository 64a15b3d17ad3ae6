/** Chooses the expansion step for the initial view. */

import type { IExpansionStep } from './initialExpansion';
import { COMFORTABLE_READING_ZOOM, fitZoom } from '../layout/paneZoom';
import type { IPane } from '../types';

/** Minimum number of boxes in the initial view, whatever their size. */
const MIN_BOXES_SHOWN = 6;
/** Minimum if all later steps show only parts with little of the arithmetic. */
const MIN_BOXES_IF_CHEAP = 3;
/** Minimum if six boxes would be unreadable. */
const MIN_BOXES_READABLE = 5;
/**
 * Maximum share of the pane that such a view may fill, so that low-cost parts do not shrink it too much.
 */
const CHEAP_PANE_SHARE = 0.7;
/** Minimum zoom for opening low-cost parts. */
const CHEAP_ZOOM = 0.95;

interface IPictureSize {
  readonly width: number;
  readonly height: number;
}

/** True if a step shows enough to be the last. */
function showsEnough(steps: readonly IExpansionStep[], at: number): boolean {
  return (
    steps[at].visible >= MIN_BOXES_SHOWN ||
    (steps[at].visible >= MIN_BOXES_IF_CHEAP &&
      steps.slice(at + 1).every(({ lowCost }) => lowCost))
  );
}

/** The first step that shows enough, which is used however large it is. */
function firstSufficientStep(steps: readonly IExpansionStep[]): number {
  const enough = steps.findIndex((_, at) => showsEnough(steps, at));
  return enough < 0 ? steps.length - 1 : enough;
}

/**
 * The last step that is not longer than `length`; `show` lays one out and returns its length, or null if
 * it was interrupted. Then the result is null, too.
 */
export async function lastNotLonger(
  steps: readonly IExpansionStep[],
  length: number,
  show: (step: IExpansionStep) => Promise<number | null>
): Promise<IExpansionStep | null> {
  if (length === Infinity) {
    return steps[steps.length - 1];
  }
  for (let at = firstSufficientStep(steps); at < steps.length; at++) {
    const reached = await show(steps[at]);
    if (reached === null) {
      return null;
    }
    const room = steps[at].lowCost ? CHEAP_PANE_SHARE * length : length;
    if (reached > room && at > 0 && showsEnough(steps, at - 1)) {
      return steps[at - 1];
    }
  }
  return steps[steps.length - 1];
}

/**
 * The step that opens most and is still readable as a whole in the pane; `show` arranges one and returns
 * its size, or null if it was interrupted. Then the result is null, too.
 */
export async function lastReadable<S extends IPictureSize>(
  steps: readonly IExpansionStep[],
  pane: IPane,
  show: (step: IExpansionStep) => Promise<S | null>
): Promise<{ readonly step: IExpansionStep; readonly shown: S } | null> {
  let best: { step: IExpansionStep; shown: S } | null = null;
  for (let at = firstSufficientStep(steps); at < steps.length; at++) {
    const step = steps[at];
    const shown = await show(step);
    if (!shown) {
      return null;
    }
    const zoom = fitZoom(shown, pane);
    if (best && zoom < (step.lowCost ? CHEAP_ZOOM : COMFORTABLE_READING_ZOOM)) {
      return best;
    }
    const isFirst = best === null;
    best = { step, shown };
    if (zoom < COMFORTABLE_READING_ZOOM) {
      // More boxes only make it smaller; slightly fewer may be readable.
      const before = isFirst && at > 0 ? steps[at - 1] : null;
      if (!before || before.visible < MIN_BOXES_READABLE) {
        return best;
      }
      const less = await show(before);
      const reads = less && fitZoom(less, pane) >= COMFORTABLE_READING_ZOOM;
      return less && (reads ? { step: before, shown: less } : best);
    }
  }
  return best;
}
