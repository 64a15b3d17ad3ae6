/**
 * Chips on cards and in titles of open groups: collapsed groups that prepare sizes, masks or weights for a
 * box. A click expands them.
 */
import { chipGroups } from '../../../core/tree/chips';
import { BoxKind } from '../../../core/types';
import { CHIP_GAP, chipsFor, type IChip, chipsWidth } from '../cards/chipSizes';
import { Lod, lodOf } from '../style/levelOfDetail';
import {
  CARD_HEADER_H,
  LABEL_SIZE,
  CARD_PAD_X,
  TITLE_SIZE
} from '../style/metrics';
import type { IDrawContext, IDrawTarget } from './drawTarget';
import { panelTitle, repeatStepper, stepperEnd } from './groupTitle';
import { titleRoom } from './titleRoom';

const CHIP_H = 16;
/** Minimum width of the title; with less, chips have no text. */
const MIN_TITLE_ROOM = 44;
/** A chip at low zoom, on the border of its card. */
const CHIP_MARK = { w: 11, h: 6 };

/** A chip in its box's coordinates. */
export interface IPlacedChip extends IChip {
  readonly x: number;
}

/** True for a collapsed group, unless it belongs to a single node and is drawn like that node. */
export function hasOutlineBehind(
  { scene, tree }: IDrawContext,
  box: number
): boolean {
  return (
    scene.boxKind[box] === BoxKind.Group &&
    tree.groupMain[scene.boxEntity[box] - tree.model.nodeCount] < 0
  );
}

/** Groups that are currently chips on a box. */
export function chipsOn(
  { scene, tree }: Pick<IDrawContext, 'scene' | 'tree'>,
  box: number
): number[] {
  const { nodeCount } = tree.model;
  const entity = scene.boxEntity[box];
  const kind: BoxKind = scene.boxKind[box];
  return kind > BoxKind.OpenGroup
    ? []
    : chipGroups(tree, entity).filter(
        group =>
          scene.boxOf(nodeCount + group) === box &&
          (kind < BoxKind.OpenGroup || nodeCount + group !== entity)
      );
}

/** The chips of a card, or in the title of an open group, at reading zoom; last one first. */
export function placedChips(
  d: IDrawContext,
  box: number,
  k: number
): readonly IPlacedChip[] {
  const visibleChips = lodOf(k) === Lod.Full ? chipsOn(d, box) : [];
  if (visibleChips.length === 0) {
    return [];
  }
  const { scene, measure } = d;
  const allChips = chipsFor(d.tree, scene.boxEntity[box], measure);
  const chips = allChips.filter(({ group }) => visibleChips.includes(group));
  const { title } = d.cards.of(scene.boxEntity[box]);
  const titleEnd = CARD_PAD_X + 3 + measure.width(title, TITLE_SIZE, 600);
  const isPanel = scene.boxKind[box] === BoxKind.OpenGroup;
  const stepper = isPanel || d.controls ? repeatStepper(d, box, k) : null;
  const start = isPanel
    ? stepperEnd(stepper) || panelTitle(d, box, k).end
    : Math.min(MIN_TITLE_ROOM, titleEnd);
  const maxWidth = isPanel
    ? titleRoom(scene, box)
    : (stepper?.x ?? scene.boxW[box] - CHIP_GAP - 1);
  const isWordless = maxWidth - chipsWidth(chips) < start;
  const width = isWordless
    ? chips.length * (CHIP_H + CHIP_GAP)
    : chipsWidth(chips);
  if (isPanel && maxWidth - width < start) {
    return [];
  }
  let x = isPanel ? start + width : maxWidth + CHIP_GAP;
  return chips.reverse().map(chip => {
    const text = isWordless ? '⋯' : chip.text;
    const w = isWordless ? CHIP_H : chip.w;
    x -= w + CHIP_GAP;
    return { ...chip, text, w, x };
  });
}

/** Draws chips; returns where the title of a card must end. */
export function drawChips(
  chips: readonly IPlacedChip[],
  end: number,
  target: IDrawTarget,
  mid = CARD_HEADER_H / 2
): number {
  for (const { x, w, text } of chips) {
    target.rect(x, mid - CHIP_H / 2, w, CHIP_H, CHIP_H / 2, {
      fill: '--oad-card',
      stroke: '--oad-border'
    });
    target.text(x + w / 2, mid + LABEL_SIZE * 0.36, text, {
      size: LABEL_SIZE,
      weight: 500,
      fill: '--oad-text',
      anchor: 'middle'
    });
  }
  return chips.length > 0
    ? chips[chips.length - 1].x - CHIP_GAP + CARD_PAD_X
    : end;
}

/** At low zoom: draws one mark per chip on the upper border, or after `start`; returns where they end. */
export function drawChipMarks(
  d: IDrawContext,
  box: number,
  target: IDrawTarget,
  start?: number,
  mid = 0
): number {
  const { w, h } = CHIP_MARK;
  const count = chipsOn(d, box).length;
  let x = start ?? d.scene.boxW[box] - CHIP_GAP - count * (w + 2);
  for (let i = 0; i < count; i++) {
    target.rect(x, mid - h / 2, w, h, h / 2, {
      fill: '--oad-card',
      stroke: '--oad-text-quiet'
    });
    x += w + 2;
  }
  return x;
}

/** The group of the chip at a point of the box; -1 if there is none. */
export function chipAt(
  chips: readonly IPlacedChip[],
  x: number,
  y: number
): number {
  const chip = chips.find(c => x >= c.x && x <= c.x + c.w);
  return chip && y >= 0 && y <= CARD_HEADER_H ? chip.group : -1;
}
