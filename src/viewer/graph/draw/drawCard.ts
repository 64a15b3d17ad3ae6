/** Cards of nodes and collapsed groups: in full, and in compact form for low zoom. */
import { TITLE_GAP, type ICard } from '../cards/cardContents';
import {
  drawChips,
  drawChipMarks,
  hasOutlineBehind,
  placedChips
} from './drawChips';
import { compactTitleSize } from '../style/levelOfDetail';
import {
  BODY_PAD,
  BODY_SIZE,
  CHEVRON_W,
  CARD_HEADER_H,
  CARD_LINE_H,
  CARD_PAD_X,
  RADIUS,
  SHARE_BAR,
  TITLE_SIZE
} from '../style/metrics';
import { chevronPath, drawShareBar } from './cardParts';
import type { ColorToken } from '../style/boxColors';
import type { IDrawContext, IDrawTarget } from './drawTarget';
import { drawStepper, fitFontSize, repeatStepper } from './groupTitle';

/** Minimum width for text after a title. */
const MIN_ROOM_BESIDE = 16;

function topRounded(w: number, h: number, r: number): string {
  return `M0,${h}V${r}Q0,0 ${r},0H${w - r}Q${w},0 ${w},${r}V${h}Z`;
}

function leftEdge(h: number, r: number): string {
  const t = 5;
  return `M${t},0V${h}H${r}Q0,${h} 0,${h - r}V${r}Q0,0 ${r},0Z`;
}

/** The second outline behind a collapsed group, which indicates its contents. */
function drawStack(w: number, h: number, target: IDrawTarget): void {
  target.rect(4, 4, w, h, RADIUS, {
    fill: '--oad-card',
    stroke: '--oad-border'
  });
}

/** At low zoom: a flat coloured card with its title as large as fits. */
export function drawCompactCard(
  d: IDrawContext,
  box: number,
  k: number,
  target: IDrawTarget
): void {
  const { scene, paint, measure } = d;
  const w = scene.boxW[box];
  const h = scene.boxH[box];
  const card = d.cards.fitting(scene.boxEntity[box], h);
  const overlayColor = paint.overlayColor(box);
  if (hasOutlineBehind(d, box)) {
    drawStack(w, h, target);
  }
  if (paint.ghost(box)) {
    drawRemoved(w, h, overlayColor, 2 / Math.max(k, 0.2), target);
  } else {
    target.rect(0, 0, w, h, RADIUS, { fill: overlayColor ?? paint.fill(box) });
  }
  if (overlayColor !== null) {
    target.path(leftEdge(h, RADIUS), { fill: paint.categoryColor(box) });
  }
  const fill =
    overlayColor === null ? '--oad-on-category' : paint.overlayTextColor(box);
  const maxWidth = w - 14 - (overlayColor === null ? 0 : 4);
  const hasTwoLines = card.instance !== '' && h > 52;
  const preferredSize = Math.min(
    compactTitleSize(k),
    hasTwoLines ? h * 0.34 : h * 0.72
  );
  const size = fitFontSize(measure, card.title, maxWidth, preferredSize, 600);
  const x = w / 2 + (overlayColor === null ? 0 : 2);
  const y = h / 2 + size * 0.36 - (hasTwoLines ? size * 0.6 : 0);
  const title = measure.shorten(card.title, maxWidth, size, 600);
  target.text(x, y, title, { size, weight: 600, fill, anchor: 'middle' });
  if (hasTwoLines) {
    const small = fitFontSize(
      measure,
      card.instance,
      maxWidth,
      preferredSize * 0.85,
      400
    );
    const text = measure.shorten(card.instance, maxWidth, small);
    const style = {
      size: small,
      fill,
      anchor: 'middle' as const
    };
    target.text(x, y + size * 0.35 + small, text, style);
  }
  drawChipMarks(d, box, target);
}

/** The outline of a removed node or group. */
function drawRemoved(
  w: number,
  h: number,
  overlayColor: ColorToken | null,
  width: number,
  target: IDrawTarget
): void {
  const stroke = overlayColor ?? '--oad-border';
  target.rect(0, 0, w, h, RADIUS, {
    fill: '--oad-card',
    stroke,
    width,
    dash: true
  });
}

const SIGN_SIZE = 11;

/** The change sign at the upper right corner. */
function drawSign(d: IDrawContext, box: number, target: IDrawTarget): void {
  const { paint, scene, measure } = d;
  const sign = paint.sign(box);
  if (sign === '') {
    return;
  }
  const w = measure.width(sign, SIGN_SIZE, 700) + 8;
  const x = scene.boxW[box] - w + 8;
  target.rect(x, -9, w, 16, 8, { fill: '--oad-card', stroke: '--oad-text' });
  target.text(x + w / 2, 3, sign, {
    size: SIGN_SIZE,
    weight: 700,
    fill: '--oad-text',
    anchor: 'middle'
  });
}

/** At reading zoom: coloured header, weights, cost, share. */
export function drawCard(
  d: IDrawContext,
  box: number,
  k: number,
  target: IDrawTarget
): void {
  const { scene, paint } = d;
  const w = scene.boxW[box];
  const h = scene.boxH[box];
  const card = d.cards.fitting(scene.boxEntity[box], h);
  const isGroup = hasOutlineBehind(d, box);
  const overlayColor = paint.overlayColor(box);
  if (isGroup) {
    drawStack(w, h, target);
  }
  const isTitleOnly = card.lines.length === 0;
  const ground = overlayColor ?? (isTitleOnly ? paint.fill(box) : '--oad-card');
  const edged = isTitleOnly && overlayColor === null;
  if (paint.ghost(box)) {
    drawRemoved(w, h, overlayColor, 2, target);
  } else {
    target.rect(0, 0, w, h, RADIUS, {
      fill: ground,
      stroke: edged ? undefined : '--oad-border'
    });
  }
  if (overlayColor !== null) {
    target.path(leftEdge(h, RADIUS), { fill: paint.categoryColor(box) });
  } else if (!isTitleOnly) {
    target.path(topRounded(w, CARD_HEADER_H, RADIUS), {
      fill: paint.fill(box)
    });
  }
  const onHeader =
    overlayColor === null ? '--oad-on-category' : paint.overlayTextColor(box);
  const stepper = d.controls ? repeatStepper(d, box, k) : null;
  if (stepper) {
    drawStepper(stepper, onHeader, true, target);
  }
  const end = stepper ? stepper.x + CARD_PAD_X : w;
  drawTitle(
    d,
    card,
    isGroup,
    drawChips(placedChips(d, box, k), end, target),
    isTitleOnly ? h : CARD_HEADER_H,
    overlayColor !== null,
    onHeader,
    target
  );
  drawLines(d, box, card, overlayColor !== null, target);
  if (card.share > 0 && overlayColor === null) {
    drawShareBar(
      CARD_PAD_X,
      h - BODY_PAD - SHARE_BAR,
      w - 2 * CARD_PAD_X,
      card.share,
      target
    );
  }
  drawSign(d, box, target);
}

function drawTitle(
  d: IDrawContext,
  card: ICard,
  isGroup: boolean,
  w: number,
  height: number,
  edged: boolean,
  fill: ColorToken,
  target: IDrawTarget
): void {
  const y = height / 2 + TITLE_SIZE * 0.36;
  let x = CARD_PAD_X + (edged ? 3 : 0);
  if (isGroup) {
    target.path(chevronPath(x + 3, height / 2, false), {
      stroke: fill,
      width: 1.6
    });
    x += CHEVRON_W;
  }
  const maxWidth = w - x - CARD_PAD_X + 4;
  const title = d.measure.shorten(card.title, maxWidth, TITLE_SIZE, 600);
  const titleWidth = d.measure.width(title, TITLE_SIZE, 600);
  const centred = !isGroup && card.lines.length === 0;
  const style = { size: TITLE_SIZE, weight: 600, fill };
  if (centred) {
    const instanceX = card.instance
      ? TITLE_GAP + d.measure.width(card.instance, BODY_SIZE)
      : 0;
    const middle = (x + w - CARD_PAD_X) / 2;
    if (instanceX === 0) {
      target.text(middle, y, title, { ...style, anchor: 'middle' });
      return;
    }
    x = Math.max(x, middle - (titleWidth + instanceX) / 2);
  }
  target.text(x, y, title, style);
  if (card.instance && maxWidth - titleWidth > MIN_ROOM_BESIDE) {
    const instance = d.measure.shorten(
      card.instance,
      maxWidth - titleWidth - TITLE_GAP,
      BODY_SIZE
    );
    target.text(x + titleWidth + TITLE_GAP, y, instance, {
      size: BODY_SIZE,
      fill
    });
  }
}

function drawLines(
  d: IDrawContext,
  box: number,
  card: ICard,
  hasOverlay: boolean,
  target: IDrawTarget
): void {
  const entity = d.scene.boxEntity[box];
  const overlayText = hasOverlay ? (d.paint.overlay?.text?.(entity) ?? '') : '';
  const w = d.scene.boxW[box];
  const x = CARD_PAD_X + (hasOverlay ? 3 : 0);
  card.lines.forEach((line, i) => {
    const y =
      CARD_HEADER_H +
      BODY_PAD +
      i * CARD_LINE_H +
      CARD_LINE_H / 2 +
      BODY_SIZE * 0.36;
    const isSecondary = line.kind !== 'weight';
    const text = line.kind === 'cost' && overlayText ? overlayText : line.text;
    const fill = hasOverlay
      ? d.paint.overlayTextColor(box)
      : isSecondary
        ? '--oad-text-quiet'
        : '--oad-text';
    target.text(
      x,
      y,
      d.measure.shorten(text, w - x - CARD_PAD_X + 4, BODY_SIZE),
      {
        size: BODY_SIZE,
        fill
      }
    );
  });
}
