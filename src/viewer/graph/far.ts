/** The picture from afar on a canvas: boxes by colour, wires in one stroke, titles of groups. */
import type { ILit } from '../../core/lit';
import { BoxKind } from '../../core/types';
import type { ICamera, IWireLook } from './api';
import {
  boxRect,
  intersects,
  type IRect,
  type ISize,
  visibleRect
} from './camera';
import { handle, isAcross, returnHeads } from './edges';
import type { SceneIndex } from './grid';
import { Lod, lodOf } from './lod';
import { MergedPicture } from './merged';
import type { IDrawing } from './primitives';
import type { Pen } from './sheet';
import type { IPalette } from './theme';
import { drawTitles } from './titles';

/** Above so many boxes in view they are drawn merged; fewer are quick to draw one by one. */
const MOST_BOXES = 5000;
/** Curves flatter than this on the screen are drawn straight. */
const STRAIGHT_BELOW = 5;

/** Half the height of an arrowhead on a wire that runs back to the next row, in screen pixels. */
const FAR_HEAD = 3;

/** Screen pixels a unit of the dashes of a wire from afar. */
const FAR_DASH = 0.6;

/** What stands out from afar. */
export interface IMarks {
  readonly hits: ReadonlySet<number>;
}

/** What of the world a canvas shows, and at how many of its pixels a screen pixel. */
export interface IFrame {
  readonly camera: ICamera;
  readonly view: ISize;
  /** Screen pixels drawn beyond each side of the view. */
  readonly margin: number;
  readonly dpr: number;
}

/** How much is left of what does not belong to a trace. */
const DIMMED = 0.18;

/** Open arrowheads: three points each. */
function drawHeads(ctx: Pen, heads: readonly number[]): void {
  for (let i = 0; i < heads.length; i += 6) {
    ctx.moveTo(heads[i], heads[i + 1]);
    ctx.lineTo(heads[i + 2], heads[i + 3]);
    ctx.lineTo(heads[i + 4], heads[i + 5]);
  }
}

export class FarLayer {
  /** Boxes and wires of a trace; null = there is none. */
  lit: ILit | null = null;
  private drawing: IDrawing | null = null;
  private index: SceneIndex | null = null;
  /** Open and closed groups, parents first. */
  private groups: number[] = [];
  private merged: MergedPicture | null = null;

  setDrawing(drawing: IDrawing, index: SceneIndex): void {
    this.drawing = drawing;
    this.index = index;
    this.merged = new MergedPicture(drawing);
    this.groups = [];
    for (let b = 0; b < drawing.scene.boxCount; b++) {
      const kind = this.kind(b);
      if (kind === BoxKind.Group || kind === BoxKind.OpenGroup) {
        this.groups.push(b);
      }
    }
  }

  draw(
    ctx: Pen,
    { camera, view: shown, margin, dpr }: IFrame,
    palette: IPalette,
    marks: IMarks
  ): void {
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    if (!this.drawing || !this.index) {
      return;
    }
    const view = { w: shown.w + 2 * margin, h: shown.h + 2 * margin };
    const k = camera.k * dpr;
    const dx = (view.w / 2) * dpr - camera.x * k;
    const dy = (view.h / 2) * dpr - camera.y * k;
    ctx.setTransform(k, 0, 0, k, dx, dy);
    const rect = visibleRect(camera, view, 8);
    const crowded =
      lodOf(camera.k) === Lod.Merged &&
      this.index.countBoxes(rect) > MOST_BOXES;
    const visible = crowded
      ? this.groups.filter(b => this.isLarge(b, camera.k, rect))
      : this.index.boxesIn(rect);
    this.drawPanels(ctx, visible, camera.k, palette);
    ctx.globalAlpha = this.lit ? DIMMED : 1;
    if (crowded) {
      this.merged?.draw(ctx, camera.k, rect, palette);
    } else {
      const looks = new Map<IWireLook | null, number[]>();
      for (const edge of this.index.edgesIn(rect)) {
        const look = this.drawing.paint.wire(edge);
        looks.set(look, looks.get(look) ?? []);
        looks.get(look)!.push(edge);
      }
      for (const [look, edges] of looks) {
        this.drawEdges(ctx, edges, camera.k, palette, look?.color, look?.dash);
      }
      this.drawBoxes(ctx, visible, camera.k, palette);
    }
    ctx.globalAlpha = 1;
    this.drawLit(ctx, rect, camera.k, palette);
    this.drawHits(ctx, rect, camera.k, palette, marks);
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    const { drawing, index } = this;
    const edge = margin + 2;
    drawTitles(ctx, { drawing, index, camera, view, edge, palette }, visible);
  }

  private kind(box: number): BoxKind {
    return this.drawing!.scene.boxKind[box];
  }

  /** What belongs to a trace, over the rest. */
  private drawLit(ctx: Pen, rect: IRect, k: number, palette: IPalette): void {
    const { lit, index } = this;
    if (lit && index) {
      const edges = index.edgesIn(rect).filter(e => lit.edges[e]);
      this.drawEdges(ctx, edges, k, palette, '--oad-accent');
      const boxes = index.boxesIn(rect).filter(b => lit.boxes[b]);
      this.drawBoxes(ctx, boxes, k, palette);
    }
  }

  /** A group in view that can be seen from so far away. */
  private isLarge(box: number, k: number, rect: IRect): boolean {
    const { scene } = this.drawing!;
    return scene.boxW[box] * k > 3 && intersects(boxRect(scene, box), rect);
  }

  private drawPanels(
    ctx: Pen,
    visible: readonly number[],
    k: number,
    palette: IPalette
  ): void {
    const { scene } = this.drawing!;
    const panels = visible.filter(
      b => this.kind(b) === BoxKind.OpenGroup && scene.boxW[b] * k > 3
    );
    ctx.fillStyle = palette.color('--oad-panel');
    ctx.strokeStyle = palette.color('--oad-panel-border');
    ctx.lineWidth = 1 / k;
    for (const b of panels.sort((x, y) => x - y)) {
      ctx.fillRect(scene.boxX[b], scene.boxY[b], scene.boxW[b], scene.boxH[b]);
      ctx.strokeRect(
        scene.boxX[b],
        scene.boxY[b],
        scene.boxW[b],
        scene.boxH[b]
      );
    }
  }

  private drawEdges(
    ctx: Pen,
    edges: readonly number[],
    k: number,
    palette: IPalette,
    color = '--oad-edge',
    dash: readonly number[] = []
  ): void {
    const { scene } = this.drawing!;
    const p = scene.edgePoints;
    ctx.setLineDash(dash.map(part => (part * FAR_DASH) / k));
    ctx.strokeStyle = palette.color(color);
    ctx.lineWidth = Math.max(1.25, 0.8 / k);
    ctx.beginPath();
    const down = scene.direction === 'down';
    for (const e of edges) {
      const from = scene.edgeOffsets[e];
      const to = scene.edgeOffsets[e + 1];
      ctx.moveTo(p[2 * from], p[2 * from + 1]);
      for (let i = from; i + 1 < to; i++) {
        const x0 = p[2 * i];
        const y0 = p[2 * i + 1];
        const x1 = p[2 * i + 2];
        const y1 = p[2 * i + 3];
        const along = down ? y1 - y0 : x1 - x0;
        const across = down ? x1 - x0 : y1 - y0;
        // A piece straight across is one of a lane beside its level.
        if (Math.abs(across) * k < STRAIGHT_BELOW || isAcross(along)) {
          ctx.lineTo(x1, y1);
        } else if (down) {
          const reach = handle(y0, y1);
          ctx.bezierCurveTo(x0, y0 + reach, x1, y1 - reach, x1, y1);
        } else {
          const reach = handle(x0, x1);
          ctx.bezierCurveTo(x0 + reach, y0, x1 - reach, y1, x1, y1);
        }
      }
      if (scene.inRows) {
        drawHeads(ctx, returnHeads(scene, e, FAR_HEAD / k));
      }
    }
    ctx.stroke();
    ctx.setLineDash([]);
  }

  private drawBoxes(
    ctx: Pen,
    visible: readonly number[],
    k: number,
    palette: IPalette
  ): void {
    const { scene, paint } = this.drawing!;
    const buckets: number[][] = [];
    for (const b of visible) {
      const kind = this.kind(b);
      if (kind !== BoxKind.OpenGroup && kind !== BoxKind.Port) {
        (buckets[paint.fillIndex(b)] ??= []).push(b);
      }
    }
    const least = 1.2 / k;
    buckets.forEach((boxes, i) => {
      ctx.fillStyle = palette.color(paint.paints[i]);
      for (const b of boxes) {
        const w = Math.max(least, scene.boxW[b]);
        ctx.fillRect(
          scene.boxX[b],
          scene.boxY[b],
          w,
          Math.max(least, scene.boxH[b])
        );
      }
    });
  }

  private drawHits(
    ctx: Pen,
    rect: IRect,
    k: number,
    palette: IPalette,
    marks: IMarks
  ): void {
    const { scene } = this.drawing!;
    const grow = 3 / k;
    ctx.strokeStyle = palette.color('--oad-hit');
    ctx.lineWidth = 2.5 / k;
    ctx.beginPath();
    for (const b of marks.hits) {
      const r = boxRect(scene, b);
      if (intersects(r, rect)) {
        ctx.rect(r.x - grow, r.y - grow, r.w + 2 * grow, r.h + 2 * grow);
      }
    }
    ctx.stroke();
  }
}
