/** Which of the steps of opening is the first picture. */

import type { IExpansionStep } from './initialExpansion';
import { COMFORTABLE_READING_ZOOM, fitZoom } from '../layout/paneZoom';
import type { IPane } from '../types';

/** A picture of so many boxes says something: a longer one must have room. */
const MIN_BOXES_SHOWN = 6;
/** One of so many does where those after it only show what carries little of the arithmetic. */
const MIN_BOXES_IF_CHEAP = 3;
/** So many do where six could not be read. */
const MIN_BOXES_READABLE = 5;
/** The part of the pane that they may fill: a smaller picture is a dear price for a look at little. */
const CHEAP_PANE_SHARE = 0.7;
/** What tells little is opened where that costs nothing. */
const CHEAP_ZOOM = 0.95;

interface IPictureSize {
  readonly width: number;
  readonly height: number;
}

/** Whether a step says enough to be the last. */
function showsEnough(steps: readonly IExpansionStep[], at: number): boolean {
  return (
    steps[at].visible >= MIN_BOXES_SHOWN ||
    (steps[at].visible >= MIN_BOXES_IF_CHEAP &&
      steps.slice(at + 1).every(({ lowCost }) => lowCost))
  );
}

/** The first step that says enough: it is taken however large it is. */
function firstSufficientStep(steps: readonly IExpansionStep[]): number {
  const enough = steps.findIndex((_, at) => showsEnough(steps, at));
  return enough < 0 ? steps.length - 1 : enough;
}

/**
 * The step whose picture is the last not longer than `length`; `show` draws one and answers with its
 * length, null where something came in between. Answers null then.
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
 * The step that opens most while all of it can be read in the pane as a whole; `show` arranges one and
 * answers with its size, null where something came in between. Answers null then.
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
      // More boxes only make it smaller; a few less may be read.
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
