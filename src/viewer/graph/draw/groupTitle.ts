/** Titles of groups: size, length, and the stepper in the title of a repeat. */
import { BoxKind } from '../../../core/types';
import { soloPart, partsOf } from '../../../core/tree/repeatParts';
import { compactTitleSize, Lod, lodOf } from '../style/levelOfDetail';
import {
  BODY_SIZE,
  CHEVRON_W,
  CARD_HEADER_H,
  CARD_PAD_X,
  STEPPER_ARROW_W,
  TITLE_BAR,
  TITLE_SIZE
} from '../style/metrics';
import type { ColorToken } from '../style/boxColors';
import type { IDrawContext, IDrawTarget } from './drawTarget';
import { titleRoom } from './titleRoom';
import type { TextMeasure } from '../text/textMeasure';

/** Gap between the title and the stepper, and around its text. */
const CONTROL_GAP = 6;

/** The font size at which the text fills `maxWidth`, between 9 and `preferred`. */
export function fitFontSize(
  measure: TextMeasure,
  text: string,
  maxWidth: number,
  preferred: number,
  weight: number
): number {
  const width = measure.width(text, preferred, weight);
  // Slightly less than exact, so that shortening to the same room never truncates.
  return width <= maxWidth
    ? preferred
    : Math.max(9, (preferred * maxWidth * 0.995) / width);
}

/** The title of an open group, in its panel's coordinates. */
export interface IPanelTitle {
  readonly x: number;
  /** Vertical centre of the title bar. */
  readonly mid: number;
  readonly size: number;
  readonly text: string;
  readonly end: number;
}

/** Titles grow as the zoom falls, as long as they fit. */
export function panelTitle(
  d: IDrawContext,
  box: number,
  k: number
): IPanelTitle {
  const { title } = d.cards.of(d.scene.boxEntity[box]);
  const x = CARD_PAD_X + CHEVRON_W;
  const maxWidth = titleRoom(d.scene, box) - x - CARD_PAD_X;
  const preferred =
    lodOf(k) === Lod.Full ? TITLE_SIZE : Math.min(20, compactTitleSize(k));
  const size = Math.max(
    TITLE_SIZE,
    fitFontSize(d.measure, title, maxWidth, preferred, 600)
  );
  const text = d.measure.shorten(title, maxWidth, size, 600);
  const end = x + d.measure.width(text, size, 600) + 8;
  return { x, mid: TITLE_BAR / 2 + 1, size, text, end };
}

/** The stepper through the instances of a repeat: arrow, instance, arrow. */
export interface IStepper {
  readonly x: number;
  readonly mid: number;
  readonly text: string;
  /** Width between the arrows. */
  readonly inner: number;
  /** Width of an arrow. */
  readonly step: number;
  readonly size: number;
}

/** Null if the box is not a repeat, the zoom is low, or there is no room. */
export function repeatStepper(
  d: IDrawContext,
  box: number,
  k: number
): IStepper | null {
  const { scene, tree } = d;
  const group = scene.boxEntity[box] - d.model.nodeCount;
  if (
    group < 0 ||
    scene.boxKind[box] > BoxKind.OpenGroup ||
    !tree.groupIsRepeat[group]
  ) {
    return null;
  }
  if (scene.boxKind[box] === BoxKind.Group) {
    const x = scene.boxW[box] - 4 - 2 * STEPPER_ARROW_W;
    const geometry = {
      x,
      mid: CARD_HEADER_H / 2,
      step: STEPPER_ARROW_W,
      size: BODY_SIZE
    };
    return lodOf(k) === Lod.Full ? { ...geometry, text: '', inner: 0 } : null;
  }
  const count = partsOf(tree, group).length;
  const solo = soloPart(
    tree,
    group,
    partEntity => scene.boxOf(partEntity) === box
  );
  const text = solo < 0 ? `1–${count}` : `${solo + 1}/${count}`;
  const { end, mid, size: title } = panelTitle(d, box, k);
  const size = title * 0.9;
  const step = (STEPPER_ARROW_W * title) / TITLE_SIZE;
  const inner = d.measure.width(text, size, 600) + CONTROL_GAP;
  const hasRoom = end + inner + 2 * step <= titleRoom(scene, box);
  return hasRoom ? { x: end, mid, text, inner, step, size } : null;
}

/** Where the text after a stepper starts; 0 without a stepper. */
export function stepperEnd(stepper: IStepper | null): number {
  return stepper ? stepper.x + stepper.inner + 2 * stepper.step + 8 : 0;
}

/** Draws the stepper. Non-interactive pictures have no arrows. */
export function drawStepper(
  { x, mid, text, inner, step, size }: IStepper,
  fill: ColorToken,
  controls: boolean,
  target: IDrawTarget
): void {
  if (controls) {
    const end = x + inner + 2 * step;
    const rise = step / 5;
    const arrow = (x: number, dx: number): void =>
      target.path(
        `M${x - dx},${mid - rise}L${x + dx},${mid}L${x - dx},${mid + rise}`,
        { stroke: fill, width: 1.6 }
      );
    arrow(x + step / 2, -rise / 2);
    arrow(end - step / 2, rise / 2);
  }
  if (text) {
    target.text(x + step + inner / 2, mid + size * 0.36, text, {
      size,
      weight: 600,
      fill,
      anchor: 'middle'
    });
  }
}

/**
 * Meaning of a click in the box: 1 or -1 for the next or previous instance, 0 for all of them, null for
 * none.
 */
export function stepperHit(
  stepper: IStepper,
  x: number,
  y: number
): 1 | -1 | 0 | null {
  const { x: left, mid, inner, step } = stepper;
  if (Math.abs(y - mid) > TITLE_BAR / 2 || x < left) {
    return null;
  }
  const right = left + step + inner;
  return x < left + step ? -1 : x < right ? 0 : x < right + step ? 1 : null;
}
