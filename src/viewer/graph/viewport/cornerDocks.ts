/**
 * Positions of legend and minimap: full size in a corner where nothing is drawn, else as a slim line at
 * an edge. Updated when the camera moves automatically or the scene changes, never while the user pans.
 */
import { BoxKind, type IScene } from '../../../core/types';
import {
  boxRect,
  contains,
  type ICameraView,
  intersects,
  type IRect,
  type IViewSize,
  visibleRect
} from '../geometry/camera';
import { crosses, type SpatialIndex } from '../scene/spatialIndex';
import type { WireLabels } from '../labels/wireLabels';
import { LABELS_FROM } from '../style/levelOfDetail';
import { TITLE_BAR } from '../style/metrics';

export type Corner = 'bottom-left' | 'bottom-right' | 'top-left' | 'top-right';

/** Screen pixels to the sides of the view; a slim line stays within the padding of a fitted graph. */
const MARGIN = 10;
const SLIM_MARGIN = 2;
/** Minimum size of the view for anything to be placed at full size. */
const MIN_VIEW: IViewSize = { w: 480, h: 420 };

export interface IDockPlace {
  readonly corner: Corner;
  readonly slim: boolean;
}

/** An overlay panel on the graph. Sizes in screen pixels. */
export interface IDockedItem {
  /** Corners, in order of preference. */
  readonly corners: readonly Corner[];
  size(): IViewSize;
  readonly slim: IViewSize;
  /** Items of a lower rank choose first. */
  readonly rank: number;
  /** True if it is hidden in this view and covers nothing. */
  isAway?(dockView: IDockView): boolean;
  place(dock: IDockPlace): void;
}

/** The current view. */
export interface IDockView extends ICameraView {
  readonly scene: IScene;
  readonly index: SpatialIndex;
  /** Labels on the wires. */
  readonly labels?: Pick<WireLabels, 'in'> | null;
}

/** The rectangle of an item in a corner of a view. */
export function cornerRect(
  corner: Corner,
  { w, h }: IViewSize,
  view: IViewSize,
  margin: number
): IRect {
  const [side, end] = corner.split('-');
  return {
    x: end === 'left' ? margin : view.w - w - margin,
    y: side === 'top' ? margin : view.h - h - margin,
    w,
    h
  };
}

/** Weight of an open group's border: less than anything else. */
const BORDER_WEIGHT = 0.01;

/**
 * How much a screen rectangle covers: boxes (of an open group, its title bar or border), wires and
 * labels. Boxes count most.
 */
export function coveredWeight(
  { scene, index, camera, view, labels }: IDockView,
  { x, y, w, h }: IRect
): number {
  const visible = visibleRect(camera, view);
  const { k } = camera;
  const r = { x: visible.x + x / k, y: visible.y + y / k, w: w / k, h: h / k };
  let boxes = 0;
  for (const box of index.boxesIn(r)) {
    const rect = boxRect(scene, box);
    if (
      scene.boxKind[box] !== BoxKind.OpenGroup ||
      intersects(r, { ...rect, h: Math.min(rect.h, TITLE_BAR) })
    ) {
      boxes++;
    } else if (!contains(rect, r)) {
      boxes += BORDER_WEIGHT;
    }
  }
  const wires = index.edgesIn(r).filter(edge => crosses(scene, edge, r));
  const texts = k >= LABELS_FROM ? (labels?.in(r).length ?? 0) : 0;
  return 3 * boxes + texts + wires.length;
}

/** The position of an item; `now` is kept if no other is better. */
export function chooseDock(
  dockView: IDockView,
  item: IDockedItem,
  occupied: readonly IRect[],
  now: IDockPlace | null
): IDockPlace {
  const { view } = dockView;
  const corners = now ? [now.corner, ...item.corners] : item.corners;
  const cost = (corner: Corner, slim: boolean): number => {
    const rect = slim
      ? cornerRect(corner, item.slim, view, SLIM_MARGIN)
      : cornerRect(corner, item.size(), view, MARGIN);
    return occupied.some(other => intersects(rect, other))
      ? Infinity
      : coveredWeight(dockView, rect);
  };
  const away = item.isAway?.(dockView) ?? false;
  if (away || (view.w >= MIN_VIEW.w && view.h >= MIN_VIEW.h)) {
    const maxCost = away ? Number.MAX_VALUE : 0;
    const fullCorner = corners.find(corner => cost(corner, false) <= maxCost);
    if (fullCorner) {
      return { corner: fullCorner, slim: false };
    }
  }
  const costs = corners.map(corner => cost(corner, true));
  const corner = corners[costs.indexOf(Math.min(...costs))];
  return { corner, slim: true };
}

export class CornerDocks {
  private readonly _items = new Map<IDockedItem, IDockPlace | null>();
  private _look: (() => IDockView | null) | null = null;
  private _settled: readonly unknown[] = [];

  /** Adds an item and keeps it placed; returns a function that removes it. */
  add(item: IDockedItem): () => void {
    this._items.set(item, null);
    this._settle();
    return () => {
      this._items.delete(item);
      this._settled = [];
    };
  }

  /** Updates all positions if any of `key` has changed. */
  follow(key: readonly unknown[], look: () => IDockView | null): void {
    const isSettled = key.every(
      (value, index) => value === this._settled[index]
    );
    this._settled = key;
    this._look = look;
    if (!isSettled) {
      this._settle();
    }
  }

  private _settle(): void {
    const dockView = this._look?.();
    if (!dockView || dockView.view.w < 1 || dockView.view.h < 1) {
      return;
    }
    const occupied: IRect[] = [];
    const items = [...this._items].sort(([a], [b]) => a.rank - b.rank);
    for (const [item, now] of items) {
      const dock = chooseDock(dockView, item, occupied, now);
      const size = dock.slim ? item.slim : item.size();
      const margin = dock.slim ? SLIM_MARGIN : MARGIN;
      occupied.push(cornerRect(dock.corner, size, dockView.view, margin));
      if (dock.corner !== now?.corner || dock.slim !== now.slim) {
        this._items.set(item, dock);
        item.place(dock);
      }
    }
  }
}
