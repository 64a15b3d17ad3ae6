/** Titles of groups: how large, how long, and the control in the title of a repeat. */
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

/** Between the title and the control, and around its text. */
const CONTROL_GAP = 6;

/** The size at which the text fills the room, between 9 and what is wanted. */
export function fitFontSize(
  measure: TextMeasure,
  text: string,
  room: number,
  wanted: number,
  weight: number
): number {
  const width = measure.width(text, wanted, weight);
  // A hair less than exact, so that shortening to the same room never bites.
  return width <= room ? wanted : Math.max(9, (wanted * room * 0.995) / width);
}

/** The title of an open group, in the coordinates of its panel. */
export interface IPanelTitle {
  readonly x: number;
  /** Middle of the title bar. */
  readonly mid: number;
  readonly size: number;
  readonly text: string;
  readonly end: number;
}

/** Titles grow as the picture shrinks, as far as there is room for all of them. */
export function panelTitle(
  d: IDrawContext,
  box: number,
  k: number
): IPanelTitle {
  const { title } = d.cards.of(d.scene.boxEntity[box]);
  const x = CARD_PAD_X + CHEVRON_W;
  const room = titleRoom(d.scene, box) - x - CARD_PAD_X;
  const wanted =
    lodOf(k) === Lod.Reading ? TITLE_SIZE : Math.min(20, compactTitleSize(k));
  const size = Math.max(
    TITLE_SIZE,
    fitFontSize(d.measure, title, room, wanted, 600)
  );
  const text = d.measure.shorten(title, room, size, 600);
  const end = x + d.measure.width(text, size, 600) + 8;
  return { x, mid: TITLE_BAR / 2 + 1, size, text, end };
}

/** The control that goes through the parts of a repeat: an arrow, which part, an arrow. */
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

/** Null when the box is not a repeat, is seen from afar, or has no room for it. */
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
    !tree.groupFold[group]
  ) {
    return null;
  }
  if (scene.boxKind[box] === BoxKind.Group) {
    const x = scene.boxW[box] - 4 - 2 * STEPPER_ARROW_W;
    const place = {
      x,
      mid: CARD_HEADER_H / 2,
      step: STEPPER_ARROW_W,
      size: BODY_SIZE
    };
    return lodOf(k) === Lod.Reading ? { ...place, text: '', inner: 0 } : null;
  }
  const count = partsOf(tree, group).length;
  const chosen = soloPart(tree, group, part => scene.boxOf(part) === box);
  const text = chosen < 0 ? `1–${count}` : `${chosen + 1}/${count}`;
  const { end, mid, size: title } = panelTitle(d, box, k);
  const size = title * 0.9;
  const step = (STEPPER_ARROW_W * title) / TITLE_SIZE;
  const inner = d.measure.width(text, size, 600) + CONTROL_GAP;
  const fits = end + inner + 2 * step <= titleRoom(scene, box);
  return fits ? { x: end, mid, text, inner, step, size } : null;
}

/** Draws the control; returns where it ends. Pictures that nobody can click on have no arrows. */
export function drawStepper(
  { x, mid, text, inner, step, size }: IStepper,
  fill: ColorToken,
  controls: boolean,
  sink: IDrawTarget
): number {
  const end = x + inner + 2 * step;
  if (controls) {
    const rise = step / 5;
    const arrow = (at: number, dx: number): void =>
      sink.path(
        `M${at - dx},${mid - rise}L${at + dx},${mid}L${at - dx},${mid + rise}`,
        { stroke: fill, width: 1.6 }
      );
    arrow(x + step / 2, -rise / 2);
    arrow(end - step / 2, rise / 2);
  }
  if (text) {
    sink.text(x + step + inner / 2, mid + size * 0.36, text, {
      size,
      weight: 600,
      fill,
      anchor: 'middle'
    });
  }
  return end;
}

/** What a click in the box means: 1 or -1 the next or previous part, 0 all of them; null nothing. */
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
