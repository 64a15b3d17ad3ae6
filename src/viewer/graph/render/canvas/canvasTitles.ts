/** Titles of groups at a constant size on the screen, so that the graph is readable at low zoom. */
import { BoxKind } from '../../../../core/types';
import type { ICamera } from '../../surfaceApi';
import type { IRect, IViewSize } from '../../geometry/camera';
import type { SpatialIndex } from '../../scene/spatialIndex';
import type { IDrawContext } from '../../draw/drawTarget';
import type { Canvas2D } from './offscreenLayer';
import type { IPalette } from '../../style/themePalette';

const SIZE = 11;
/** Height of the strip above a panel for its title. */
const STRIP = 14;
/** Minimum width on the screen for a group to have a title. */
const MIN_WIDTH = 34;
const MIN_HEIGHT = 11;

export interface ICanvasTitleView {
  readonly drawing: IDrawContext;
  readonly index: SpatialIndex;
  readonly camera: ICamera;
  readonly view: IViewSize;
  /** Left edge at which titles that would begin further left stop. */
  readonly edge: number;
  readonly palette: IPalette;
}

/** Collapsed groups have the title inside; open ones above, if there is space. */
export function drawTitles(
  ctx: Canvas2D,
  titleView: ICanvasTitleView,
  visible: readonly number[]
): void {
  const { scene } = titleView.drawing;
  const { k } = titleView.camera;
  ctx.font = `600 ${SIZE}px ${titleView.palette.font}`;
  ctx.textBaseline = 'middle';
  const isVisible = (box: number): boolean =>
    scene.boxW[box] * k >= MIN_WIDTH && scene.boxH[box] * k >= MIN_HEIGHT;
  const open: number[] = [];
  for (const box of visible) {
    const kind: BoxKind = scene.boxKind[box];
    if (kind === BoxKind.Group && isVisible(box)) {
      drawInside(ctx, titleView, box);
    } else if (kind === BoxKind.OpenGroup && isVisible(box)) {
      open.push(box);
    }
  }
  drawAbove(ctx, titleView, open);
}

function titleOf(drawing: IDrawContext, box: number): string {
  const card = drawing.cards.of(drawing.scene.boxEntity[box]);
  return card.instance || card.title;
}

function drawInside(
  ctx: Canvas2D,
  titleView: ICanvasTitleView,
  box: number
): void {
  const { drawing, camera, view, palette } = titleView;
  const { scene, paint, measure } = drawing;
  const w = scene.boxW[box] * camera.k;
  const text = measure.shorten(titleOf(drawing, box), w - 6, SIZE, 600);
  if (text.length > 2) {
    const x = (scene.boxX[box] - camera.x) * camera.k + view.w / 2 + w / 2;
    const y =
      (scene.boxY[box] + scene.boxH[box] / 2 - camera.y) * camera.k +
      view.h / 2;
    ctx.textAlign = 'center';
    ctx.fillStyle = palette.color(
      paint.overlay ? paint.overlayTextColor(box) : '--oad-on-category'
    );
    ctx.fillText(text, x, y);
  }
}

/** Outer groups first: an inner title moves right, or is omitted, where an outer one is. */
function drawAbove(
  ctx: Canvas2D,
  titleView: ICanvasTitleView,
  open: number[]
): void {
  const { drawing, camera, view, palette } = titleView;
  const { scene, measure } = drawing;
  const occupied: IRect[] = [];
  ctx.textAlign = 'left';
  ctx.fillStyle = palette.color('--oad-text-quiet');
  for (const box of open.sort((a, b) => a - b)) {
    const left = (scene.boxX[box] - camera.x) * camera.k + view.w / 2;
    const top = (scene.boxY[box] - camera.y) * camera.k + view.h / 2 - STRIP;
    const name = titleOf(drawing, box);
    const width = measure.width(name, SIZE, 600);
    const right = left + scene.boxW[box] * camera.k;
    const x = findFreeX(
      occupied,
      Math.max(left, titleView.edge) + 1,
      top,
      width,
      right
    );
    if (x !== null && !coversBox(titleView, x, top + STRIP / 2, width)) {
      occupied.push({ x, y: top, w: width + 8, h: STRIP - 1 });
      ctx.fillText(name, x, top + STRIP / 2);
    }
  }
}

function coversBox(
  titleView: ICanvasTitleView,
  x: number,
  y: number,
  width: number
): boolean {
  const { camera, view, index, drawing } = titleView;
  const worldY = (y - view.h / 2) / camera.k + camera.y;
  return [x, x + width / 2, x + width].some(viewX => {
    const box = index.pick(
      (viewX - view.w / 2) / camera.k + camera.x,
      worldY,
      4 / camera.k
    );
    const kind: BoxKind | -1 = box < 0 ? -1 : drawing.scene.boxKind[box];
    return kind === BoxKind.Node || kind === BoxKind.Group;
  });
}

/**
 * The leftmost x, starting at `from`, at which a title of the given width meets no earlier one; null if
 * there is no space.
 */
export function findFreeX(
  occupied: readonly IRect[],
  from: number,
  y: number,
  width: number,
  right: number
): number | null {
  let x = from;
  for (let isMoved = true; isMoved && x + width <= right;) {
    isMoved = false;
    for (const r of occupied) {
      if (
        r.y < y + STRIP - 1 &&
        y < r.y + r.h &&
        r.x < x + width &&
        x < r.x + r.w
      ) {
        x = r.x + r.w;
        isMoved = true;
      }
    }
  }
  return x + width <= right ? x : null;
}
