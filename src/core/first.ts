/** Which of the steps of opening is the first picture. */

import type { IOpeningStep } from './openings';
import { READ_ZOOM, zoomIn } from './pane';
import type { IPane } from './types';

/** A picture of so many boxes says something: a longer one must have room. */
const ENOUGH = 6;
/** One of so many does where those after it only show what carries little of the arithmetic. */
const HARDLY_ENOUGH = 3;
/** So many do where six could not be read. */
const READABLE_ENOUGH = 5;
/** The part of the pane that they may fill: a smaller picture is a dear price for a look at little. */
const LIGHT_ROOM = 0.7;
/** What tells little is opened where that costs nothing. */
const LIGHT_ZOOM = 0.95;

interface ISize {
  readonly width: number;
  readonly height: number;
}

/** Whether a step says enough to be the last. */
function isEnough(steps: readonly IOpeningStep[], at: number): boolean {
  return (
    steps[at].visible >= ENOUGH ||
    (steps[at].visible >= HARDLY_ENOUGH &&
      steps.slice(at + 1).every(({ light }) => light))
  );
}

/** The first step that says enough: it is taken however large it is. */
function firstOf(steps: readonly IOpeningStep[]): number {
  const enough = steps.findIndex((_, at) => isEnough(steps, at));
  return enough < 0 ? steps.length - 1 : enough;
}

/**
 * The step whose picture is the last not longer than `length`; `show` draws one and answers with its
 * length, null where something came in between. Answers null then.
 */
export async function lastNotLonger(
  steps: readonly IOpeningStep[],
  length: number,
  show: (step: IOpeningStep) => Promise<number | null>
): Promise<IOpeningStep | null> {
  if (length === Infinity) {
    return steps[steps.length - 1];
  }
  for (let at = firstOf(steps); at < steps.length; at++) {
    const reached = await show(steps[at]);
    if (reached === null) {
      return null;
    }
    const room = steps[at].light ? LIGHT_ROOM * length : length;
    if (reached > room && at > 0 && isEnough(steps, at - 1)) {
      return steps[at - 1];
    }
  }
  return steps[steps.length - 1];
}

/**
 * The step that opens most while all of it can be read in the pane as a whole; `show` arranges one and
 * answers with its size, null where something came in between. Answers null then.
 */
export async function lastReadable<S extends ISize>(
  steps: readonly IOpeningStep[],
  pane: IPane,
  show: (step: IOpeningStep) => Promise<S | null>
): Promise<{ readonly step: IOpeningStep; readonly shown: S } | null> {
  let best: { step: IOpeningStep; shown: S } | null = null;
  for (let at = firstOf(steps); at < steps.length; at++) {
    const step = steps[at];
    const shown = await show(step);
    if (!shown) {
      return null;
    }
    const zoom = zoomIn(shown, pane);
    if (best && zoom < (step.light ? LIGHT_ZOOM : READ_ZOOM)) {
      return best;
    }
    const isFirst = best === null;
    best = { step, shown };
    if (zoom < READ_ZOOM) {
      // More boxes only make it smaller; a few less may be read.
      const before = isFirst && at > 0 ? steps[at - 1] : null;
      if (!before || before.visible < READABLE_ENOUGH) {
        return best;
      }
      const less = await show(before);
      const reads = less && zoomIn(less, pane) >= READ_ZOOM;
      return less && (reads ? { step: before, shown: less } : best);
    }
  }
  return best;
}
