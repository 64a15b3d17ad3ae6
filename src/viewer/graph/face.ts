/** The face of a card, of a node as of a closed group: at reading size, and as a block of colour. */
import { BESIDE, type ICard } from './card';
import { drawChips, drawMarks, isStack, placedChips } from './chips';
import { blockTitleSize } from './lod';
import {
  BODY_PAD,
  BODY_SIZE,
  CHEVRON,
  HEADER,
  LINE,
  PAD_X,
  RADIUS,
  SHARE_BAR,
  TITLE_SIZE
} from './metrics';
import { chevron, drawShare } from './ornaments';
import type { Paint } from './paint';
import type { IDrawing, ISink } from './primitives';
import { drawStepper, fitted, stepperOf } from './title';

/** With less room behind a title, nothing is written there. */
const LEAST_BESIDE = 16;

function topRounded(w: number, h: number, r: number): string {
  return `M0,${h}V${r}Q0,0 ${r},0H${w - r}Q${w},0 ${w},${r}V${h}Z`;
}

function leftEdge(h: number, r: number): string {
  const t = 5;
  return `M${t},0V${h}H${r}Q0,${h} 0,${h - r}V${r}Q0,0 ${r},0Z`;
}

/** The two outlines behind a collapsed group that say "there is more inside". */
function drawStack(w: number, h: number, sink: ISink): void {
  sink.rect(4, 4, w, h, RADIUS, { fill: '--oad-card', stroke: '--oad-border' });
}

/** From afar: one block of colour, its title as large as fits. */
export function drawBlock(
  d: IDrawing,
  box: number,
  k: number,
  sink: ISink
): void {
  const { scene, paint, measure } = d;
  const w = scene.boxW[box];
  const h = scene.boxH[box];
  const card = d.cards.fitting(scene.boxEntity[box], h);
  const over = paint.overlaid(box);
  if (isStack(d, box)) {
    drawStack(w, h, sink);
  }
  if (paint.ghost(box)) {
    drawGhost(w, h, over, 2 / Math.max(k, 0.2), sink);
  } else {
    sink.rect(0, 0, w, h, RADIUS, { fill: over ?? paint.fill(box) });
  }
  if (over !== null) {
    sink.path(leftEdge(h, RADIUS), { fill: paint.plain(box) });
  }
  const fill = over === null ? '--oad-on-category' : paint.overText(box);
  const room = w - 14 - (over === null ? 0 : 4);
  const both = card.instance !== '' && h > 52;
  const wanted = Math.min(blockTitleSize(k), both ? h * 0.34 : h * 0.72);
  const size = fitted(measure, card.title, room, wanted, 600);
  const x = w / 2 + (over === null ? 0 : 2);
  const y = h / 2 + size * 0.36 - (both ? size * 0.6 : 0);
  const title = measure.shorten(card.title, room, size, 600);
  sink.text(x, y, title, { size, weight: 600, fill, anchor: 'middle' });
  if (both) {
    const small = fitted(measure, card.instance, room, wanted * 0.85, 400);
    const text = measure.shorten(card.instance, room, small);
    const style = {
      size: small,
      fill,
      anchor: 'middle' as const
    };
    sink.text(x, y + size * 0.35 + small, text, style);
  }
  drawMarks(d, box, sink);
}

/** An outline of what is no longer there. */
function drawGhost(
  w: number,
  h: number,
  over: Paint | null,
  width: number,
  sink: ISink
): void {
  const stroke = over ?? '--oad-border';
  sink.rect(0, 0, w, h, RADIUS, {
    fill: '--oad-card',
    stroke,
    width,
    dash: true
  });
}

const SIGN_SIZE = 11;

/** The state in a sign, on the upper right corner. */
function drawSign(d: IDrawing, box: number, sink: ISink): void {
  const { paint, scene, measure } = d;
  const sign = paint.sign(box);
  if (sign === '') {
    return;
  }
  const w = measure.width(sign, SIGN_SIZE, 700) + 8;
  const x = scene.boxW[box] - w + 8;
  sink.rect(x, -9, w, 16, 8, { fill: '--oad-card', stroke: '--oad-text' });
  sink.text(x + w / 2, 3, sign, {
    size: SIGN_SIZE,
    weight: 700,
    fill: '--oad-text',
    anchor: 'middle'
  });
}

/** At reading size: coloured header, weights, cost, share. */
export function drawCard(
  d: IDrawing,
  box: number,
  k: number,
  sink: ISink
): void {
  const { scene, paint } = d;
  const w = scene.boxW[box];
  const h = scene.boxH[box];
  const card = d.cards.fitting(scene.boxEntity[box], h);
  const isGroup = isStack(d, box);
  const over = paint.overlaid(box);
  if (isGroup) {
    drawStack(w, h, sink);
  }
  const bare = card.lines.length === 0;
  const ground = over ?? (bare ? paint.fill(box) : '--oad-card');
  const edged = bare && over === null;
  if (paint.ghost(box)) {
    drawGhost(w, h, over, 2, sink);
  } else {
    sink.rect(0, 0, w, h, RADIUS, {
      fill: ground,
      stroke: edged ? undefined : '--oad-border'
    });
  }
  if (over !== null) {
    sink.path(leftEdge(h, RADIUS), { fill: paint.plain(box) });
  } else if (!bare) {
    sink.path(topRounded(w, HEADER, RADIUS), { fill: paint.fill(box) });
  }
  const onHeader = over === null ? '--oad-on-category' : paint.overText(box);
  const stepper = d.controls ? stepperOf(d, box, k) : null;
  if (stepper) {
    drawStepper(stepper, onHeader, true, sink);
  }
  const end = stepper ? stepper.x + PAD_X : w;
  drawTitle(
    d,
    card,
    isGroup,
    drawChips(placedChips(d, box, k), end, sink),
    bare ? h : HEADER,
    over !== null,
    onHeader,
    sink
  );
  drawLines(d, box, card, over !== null, sink);
  if (card.share > 0 && over === null) {
    drawShare(PAD_X, h - BODY_PAD - SHARE_BAR, w - 2 * PAD_X, card.share, sink);
  }
  drawSign(d, box, sink);
}

function drawTitle(
  d: IDrawing,
  card: ICard,
  isGroup: boolean,
  w: number,
  height: number,
  edged: boolean,
  fill: Paint,
  sink: ISink
): void {
  const y = height / 2 + TITLE_SIZE * 0.36;
  let x = PAD_X + (edged ? 3 : 0);
  if (isGroup) {
    sink.path(chevron(x + 3, height / 2, false), { stroke: fill, width: 1.6 });
    x += CHEVRON;
  }
  const room = w - x - PAD_X + 4;
  const title = d.measure.shorten(card.title, room, TITLE_SIZE, 600);
  const used = d.measure.width(title, TITLE_SIZE, 600);
  const centred = !isGroup && card.lines.length === 0;
  const style = { size: TITLE_SIZE, weight: 600, fill };
  if (centred) {
    const beside = card.instance
      ? BESIDE + d.measure.width(card.instance, BODY_SIZE)
      : 0;
    const middle = (x + w - PAD_X) / 2;
    if (beside === 0) {
      sink.text(middle, y, title, { ...style, anchor: 'middle' });
      return;
    }
    x = Math.max(x, middle - (used + beside) / 2);
  }
  sink.text(x, y, title, style);
  if (card.instance && room - used > LEAST_BESIDE) {
    const instance = d.measure.shorten(
      card.instance,
      room - used - BESIDE,
      BODY_SIZE
    );
    sink.text(x + used + BESIDE, y, instance, {
      size: BODY_SIZE,
      fill
    });
  }
}

function drawLines(
  d: IDrawing,
  box: number,
  card: ICard,
  over: boolean,
  sink: ISink
): void {
  const entity = d.scene.boxEntity[box];
  const own = over ? (d.paint.overlay?.text?.(entity) ?? '') : '';
  const w = d.scene.boxW[box];
  const x = PAD_X + (over ? 3 : 0);
  card.lines.forEach((line, i) => {
    const y = HEADER + BODY_PAD + i * LINE + LINE / 2 + BODY_SIZE * 0.36;
    const quiet = line.kind !== 'weight';
    const text = line.kind === 'cost' && own ? own : line.text;
    const fill = over
      ? d.paint.overText(box)
      : quiet
        ? '--oad-text-quiet'
        : '--oad-text';
    sink.text(x, y, d.measure.shorten(text, w - x - PAD_X + 4, BODY_SIZE), {
      size: BODY_SIZE,
      fill
    });
  });
}
