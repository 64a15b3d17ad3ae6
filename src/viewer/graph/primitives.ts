/**
 * What a box looks like, as rectangles, texts and paths in the box's own coordinates. The one place
 * that screen elements, canvas and export draw from.
 */
import {
  BoxKind,
  type IGraphModel,
  type IScene,
  type ITree
} from '../../core/types';
import { pillText } from '../../core/series';
import type { Cards, ICard } from './card';
import { blockTitleSize, Lod } from './lod';
import {
  BODY_PAD,
  BODY_SIZE,
  CHEVRON,
  HEADER,
  LINE,
  PAD_X,
  PILL_SIZE,
  RADIUS,
  SHARE_BAR,
  TITLE_SIZE
} from './metrics';
import type { Paint, ScenePaint } from './paint';
import { titleRoom } from './room';
import { clip, type TextMeasure } from './text';
import { drawStepper, fitted, panelTitle, stepperOf } from './title';

export interface IShape {
  readonly fill?: Paint;
  readonly stroke?: Paint;
  readonly width?: number;
  readonly opacity?: number;
  readonly dash?: boolean;
}

export interface ITextStyle {
  readonly size: number;
  readonly weight?: number;
  readonly fill: Paint;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly opacity?: number;
}

/** Takes primitives; implementations make elements, draw pixels or write a file. */
export interface ISink {
  rect(
    x: number,
    y: number,
    w: number,
    h: number,
    r: number,
    shape: IShape
  ): void;
  /** `d` uses only M, L, H, V, C, Q and Z. */
  path(d: string, shape: IShape): void;
  /** `y` is the baseline. */
  text(x: number, y: number, text: string, style: ITextStyle): void;
}

export interface IDrawing {
  readonly scene: IScene;
  readonly model: IGraphModel;
  readonly tree: ITree;
  readonly paint: ScenePaint;
  readonly cards: Cards;
  readonly measure: TextMeasure;
  /** Drawn for somebody who can click on it. */
  readonly controls?: boolean;
}

/** Draws one box at the zoom `k`. */
export function drawBox(
  d: IDrawing,
  box: number,
  k: number,
  lod: Lod,
  sink: ISink
): void {
  const { scene } = d;
  switch (scene.boxKind[box]) {
    case BoxKind.Node:
    case BoxKind.Group:
      return lod === Lod.Reading
        ? drawCard(d, box, k, sink)
        : drawBlock(d, box, k, sink);
    case BoxKind.OpenGroup:
      drawPanel(d, box, k, lod, sink);
      return;
    case BoxKind.Port:
      return drawPort(scene.boxW[box], scene.boxH[box], sink);
    default:
      return drawPill(d, box, k, lod, sink);
  }
}

function topRounded(w: number, h: number, r: number): string {
  return `M0,${h}V${r}Q0,0 ${r},0H${w - r}Q${w},0 ${w},${r}V${h}Z`;
}

function leftEdge(h: number, r: number): string {
  const t = 5;
  return `M${t},0V${h}H${r}Q0,${h} 0,${h - r}V${r}Q0,0 ${r},0Z`;
}

function chevron(x: number, y: number, open: boolean): string {
  return open
    ? `M${x - 4},${y - 2}L${x},${y + 2}L${x + 4},${y - 2}`
    : `M${x - 2},${y - 4}L${x + 2},${y}L${x - 2},${y + 4}`;
}

/** The two outlines behind a collapsed group that say "there is more inside". */
function drawStack(w: number, h: number, sink: ISink): void {
  sink.rect(4, 4, w, h, RADIUS, { fill: '--oad-card', stroke: '--oad-border' });
}

/** From afar: one block of colour, its title as large as fits. */
function drawBlock(d: IDrawing, box: number, k: number, sink: ISink): void {
  const { scene, paint, measure } = d;
  const w = scene.boxW[box];
  const h = scene.boxH[box];
  const card = d.cards.of(scene.boxEntity[box]);
  const over = paint.overlaid(box);
  if (scene.boxKind[box] === BoxKind.Group) {
    drawStack(w, h, sink);
  }
  sink.rect(0, 0, w, h, RADIUS, { fill: over ?? paint.fill(box) });
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
}

/** At reading size: coloured header, weights, cost, share. */
function drawCard(d: IDrawing, box: number, k: number, sink: ISink): void {
  const { scene, paint } = d;
  const w = scene.boxW[box];
  const h = scene.boxH[box];
  const card = d.cards.of(scene.boxEntity[box]);
  const isGroup = scene.boxKind[box] === BoxKind.Group;
  const over = paint.overlaid(box);
  if (isGroup) {
    drawStack(w, h, sink);
  }
  const bare = card.lines.length === 0;
  const ground = over ?? (bare ? paint.fill(box) : '--oad-card');
  const edged = bare && over === null;
  sink.rect(0, 0, w, h, RADIUS, {
    fill: ground,
    stroke: edged ? undefined : '--oad-border'
  });
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
  drawTitle(
    d,
    card,
    isGroup,
    stepper ? stepper.x + PAD_X : w,
    bare ? h : HEADER,
    over !== null,
    onHeader,
    sink
  );
  drawLines(d, box, card, over !== null, sink);
  if (card.share > 0 && over === null) {
    drawShare(PAD_X, h - BODY_PAD - SHARE_BAR, w - 2 * PAD_X, card.share, sink);
  }
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
    sink.text((x + w - PAD_X) / 2, y, title, { ...style, anchor: 'middle' });
    return;
  }
  sink.text(x, y, title, style);
  if (card.instance && room - used > 24) {
    const instance = d.measure.shorten(
      card.instance,
      room - used - 6,
      BODY_SIZE
    );
    sink.text(x + used + 6, y, instance, {
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

function drawShare(
  x: number,
  y: number,
  w: number,
  share: number,
  sink: ISink
): void {
  sink.rect(x, y, w, SHARE_BAR, 2, { fill: '--oad-share', opacity: 0.2 });
  const part = Math.max(2, w * Math.min(1, share));
  sink.rect(x, y, part, SHARE_BAR, 2, { fill: '--oad-share' });
}

/** The share of a group that is the whole model says nothing. */
const NEARLY_ALL = 0.99;

/**
 * An open group: a soft panel, tinted once more a level, with its title on top. Returns where the
 * title ends.
 */
export function drawPanel(
  d: IDrawing,
  box: number,
  k: number,
  lod: Lod,
  sink: ISink
): number {
  const { scene } = d;
  const w = scene.boxW[box];
  const h = scene.boxH[box];
  const card = d.cards.of(scene.boxEntity[box]);
  sink.rect(0, 0, w, h, 6, {
    fill: '--oad-panel',
    stroke: '--oad-panel-border'
  });
  const room = titleRoom(scene, box);
  const { x, mid, size, text, end } = panelTitle(d, box, k);
  sink.path(chevron(PAD_X + 4, mid, true), {
    stroke: '--oad-text-quiet',
    width: 1.6
  });
  const y = mid + size * 0.36;
  sink.text(x, y, text, { size, weight: 600, fill: '--oad-text' });
  let at = end;
  const stepper = stepperOf(d, box, k);
  if (stepper) {
    const controls = d.controls === true;
    at = drawStepper(stepper, '--oad-text-quiet', controls, sink) + 8;
  }
  if (card.instance && room - at > 40) {
    const instance = d.measure.shorten(
      card.instance,
      room - at - PAD_X,
      size * 0.9
    );
    sink.text(at, y, instance, { size: size * 0.9, fill: '--oad-text-quiet' });
    at += d.measure.width(instance, size * 0.9) + 12;
  }
  if (lod !== Lod.Reading) {
    return at;
  }
  if (card.share > 0 && card.share < NEARLY_ALL && room - at > 72) {
    drawShare(at, mid - SHARE_BAR / 2, 56, card.share, sink);
    at += 64;
  }
  const cost = card.lines.find(line => line.kind === 'cost')?.text ?? '';
  const width = d.measure.width(cost, BODY_SIZE);
  if (cost && room - at - PAD_X > width) {
    sink.text(at, mid + BODY_SIZE * 0.36, cost, {
      size: BODY_SIZE,
      fill: '--oad-text-quiet'
    });
    at += width;
  }
  return at;
}

function drawPort(w: number, h: number, sink: ISink): void {
  const r = Math.min(4, w / 2, h / 2);
  sink.rect(w / 2 - r, h / 2 - r, 2 * r, 2 * r, r, {
    fill: '--oad-card',
    stroke: '--oad-edge',
    width: 1.5
  });
}

/** Inputs, outputs and stubs. */
function drawPill(
  d: IDrawing,
  box: number,
  k: number,
  lod: Lod,
  sink: ISink
): void {
  const { scene, measure } = d;
  const w = scene.boxW[box];
  const h = scene.boxH[box];
  const stub = scene.boxKind[box] === BoxKind.Stub;
  sink.rect(0, 0, w, h, h / 2, {
    fill: stub ? '--oad-ground' : '--oad-pill',
    stroke: stub ? '--oad-edge' : '--oad-pill-border',
    dash: stub
  });
  const name = clip(pillText(d.tree, scene.boxEntity[box]));
  const wanted =
    lod === Lod.Reading ? PILL_SIZE : Math.min(blockTitleSize(k), h * 0.72);
  const size = fitted(measure, name, w - 16, wanted, 500);
  sink.text(
    w / 2,
    h / 2 + size * 0.36,
    measure.shorten(name, w - 14, size, 500),
    {
      size,
      weight: 500,
      fill: stub ? '--oad-text-quiet' : '--oad-text',
      anchor: 'middle'
    }
  );
}
