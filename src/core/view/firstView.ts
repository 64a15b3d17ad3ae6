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
/** If a view covers a smaller share of the pane, there is room for an instance of a repeat. */
const MIN_COVERED_SHARE = 0.5;
/** Minimum zoom for opening low-cost parts. */
const CHEAP_ZOOM = 0.95;

interface IPictureSize {
  readonly width: number;
  readonly height: number;
}

/** True if a step shows enough to be the last. */
function showsEnough(steps: readonly IExpansionStep[], index: number): boolean {
  return (
    steps[index].visible >= MIN_BOXES_SHOWN ||
    (steps[index].visible >= MIN_BOXES_IF_CHEAP &&
      steps.slice(index + 1).every(step => step.lowCost || step.isSpare))
  );
}

/** The first step that shows enough, which is used however large it is. */
function firstSufficientStep(steps: readonly IExpansionStep[]): number {
  const firstSufficient = steps.findIndex((_, index) =>
    showsEnough(steps, index)
  );
  return firstSufficient < 0 ? steps.length - 1 : firstSufficient;
}

/**
 * The last step that is not longer than `length`; `show` lays one out and returns its length, or null if
 * it was interrupted. Then the result is null, too.
 */
export async function lastNotLonger(
  allSteps: readonly IExpansionStep[],
  length: number,
  show: (step: IExpansionStep) => Promise<number | null>
): Promise<IExpansionStep | null> {
  const steps = allSteps.filter(({ isSpare }) => !isSpare);
  if (length === Infinity) {
    return steps[steps.length - 1];
  }
  for (let index = firstSufficientStep(steps); index < steps.length; index++) {
    const stepLength = await show(steps[index]);
    if (stepLength === null) {
      return null;
    }
    const maxLength = steps[index].lowCost ? CHEAP_PANE_SHARE * length : length;
    if (stepLength > maxLength && index > 0 && showsEnough(steps, index - 1)) {
      return steps[index - 1];
    }
  }
  return steps[steps.length - 1];
}

/** Share of the pane that the view covers at the zoom at which it fits. */
function covered(size: IPictureSize, pane: IPane): number {
  const zoom = fitZoom(size, pane);
  return (size.width * size.height * zoom * zoom) / (pane.w * pane.h);
}

/**
 * The step that opens most and is still readable as a whole in the pane; `show` arranges one and returns
 * its size, or null if it was interrupted. Then the result is null, too.
 */
export async function lastReadable<S extends IPictureSize>(
  steps: readonly IExpansionStep[],
  pane: IPane,
  show: (step: IExpansionStep) => Promise<S | null>
): Promise<{ readonly step: IExpansionStep; readonly result: S } | null> {
  const first = firstSufficientStep(steps);
  let best: { step: IExpansionStep; result: S } | null = null;
  for (let index = first; index < steps.length; index++) {
    const step = steps[index];
    const hasRoom = best && covered(best.result, pane) < MIN_COVERED_SHARE;
    // More boxes only make it smaller, unless one long row leaves most of the pane empty.
    const isDone = step.isSpare || (best && !isReadable(best.result, pane));
    if (best && isDone && !hasRoom) {
      break;
    }
    const size = await show(step);
    if (!size) {
      return null;
    }
    const zoom = fitZoom(size, pane);
    if (best && zoom < (step.lowCost ? CHEAP_ZOOM : COMFORTABLE_READING_ZOOM)) {
      break;
    }
    best = { step, result: size };
  }
  const before = best?.step === steps[first] && steps[first - 1];
  if (
    !best ||
    isReadable(best.result, pane) ||
    !before ||
    before.visible < MIN_BOXES_READABLE
  ) {
    return best;
  }
  // Slightly fewer may be readable.
  const smaller = await show(before);
  return (
    smaller &&
    (isReadable(smaller, pane) ? { step: before, result: smaller } : best)
  );
}

const isReadable = (size: IPictureSize, pane: IPane): boolean =>
  fitZoom(size, pane) >= COMFORTABLE_READING_ZOOM;
