/** Open groups: the panel behind their contents, and the title. */
import { Lod } from '../style/levelOfDetail';
import { BODY_SIZE, CARD_PAD_X, SHARE_BAR } from '../style/metrics';
import { chevronPath, drawShareBar } from './cardParts';
import type { IDrawContext, IDrawTarget } from './drawTarget';
import { titleRoom } from './titleRoom';
import { drawChipMarks, drawChips, placedChips } from './drawChips';
import {
  drawStepper,
  panelTitle,
  repeatStepper,
  stepperEnd
} from './groupTitle';

/** Share above which a group is almost the whole model and its share is not shown. */
const MAX_SHOWN_SHARE = 0.99;

/**
 * Draws an open group: a panel, tinted once more per level, with its title on top. Returns where
 * the title ends.
 */
export function drawGroupPanel(
  d: IDrawContext,
  box: number,
  k: number,
  lod: Lod,
  target: IDrawTarget
): number {
  const { scene } = d;
  const w = scene.boxW[box];
  const h = scene.boxH[box];
  const card = d.cards.of(scene.boxEntity[box]);
  target.rect(0, 0, w, h, 6, {
    fill: '--oad-panel',
    stroke: '--oad-panel-border'
  });
  const maxWidth = titleRoom(scene, box);
  const { x, mid, size, text, end } = panelTitle(d, box, k);
  target.path(chevronPath(CARD_PAD_X + 4, mid, true), {
    stroke: '--oad-text-quiet',
    width: 1.6
  });
  const y = mid + size * 0.36;
  target.text(x, y, text, { size, weight: 600, fill: '--oad-text' });
  let endX = end;
  const stepper = repeatStepper(d, box, k);
  if (stepper) {
    const controls = d.controls === true;
    drawStepper(stepper, '--oad-text-quiet', controls, target);
    endX = stepperEnd(stepper);
  }
  const chips = placedChips(d, box, k);
  if (chips.length > 0) {
    drawChips(chips, 0, target, mid);
    endX = chips[0].x + chips[0].w + 8;
  } else if (lod !== Lod.Full) {
    endX = drawChipMarks(d, box, target, endX, mid);
  }
  if (card.instance && maxWidth - endX > 40) {
    const instance = d.measure.shorten(
      card.instance,
      maxWidth - endX - CARD_PAD_X,
      size * 0.9
    );
    target.text(endX, y, instance, {
      size: size * 0.9,
      fill: '--oad-text-quiet'
    });
    endX += d.measure.width(instance, size * 0.9) + 12;
  }
  if (lod !== Lod.Full) {
    return endX;
  }
  const painted = d.paint.overlay?.text?.(scene.boxEntity[box]) ?? '';
  // The bar shows the share of MACs; under a heatmap, only the heatmap's value is shown.
  const bar = !painted && card.share > 0 && card.share < MAX_SHOWN_SHARE;
  if (bar && maxWidth - endX > 72) {
    drawShareBar(endX, mid - SHARE_BAR / 2, 56, card.share, target);
    endX += 64;
  }
  const cost =
    painted || (card.lines.find(line => line.kind === 'cost')?.text ?? '');
  const width = d.measure.width(cost, BODY_SIZE);
  if (cost && maxWidth - endX - CARD_PAD_X > width) {
    target.text(endX, mid + BODY_SIZE * 0.36, cost, {
      size: BODY_SIZE,
      fill: '--oad-text-quiet'
    });
    endX += width;
  }
  return endX;
}
