/**
 * Where legend and overview strip stand: whole in a corner where nothing is drawn, else as a slim line at an edge.
 * Decided when the camera goes somewhere by itself or the picture changes, never while a reader pans.
 */
import { BoxKind, type IScene } from '../../core/types';
import {
  boxRect,
  type ICameraView,
  intersects,
  type IRect,
  type ISize,
  visibleRect
} from './camera';
import { crosses, type SceneIndex } from './grid';
import type { WireLabels } from './labels';
import { LABELS_FROM } from './lod';
import { TITLE_BAR } from './metrics';

export type Corner = 'bottom-left' | 'bottom-right' | 'top-left' | 'top-right';

/** Screen pixels to the sides of the view; a slim line stays in the padding of a picture that is fitted. */
const MARGIN = 10;
const SLIM_MARGIN = 2;
/** In a smaller view nothing stands whole by itself. */
const LEAST: ISize = { w: 480, h: 420 };

export interface IPlace {
  readonly corner: Corner;
  readonly slim: boolean;
}

/** What stands over the picture. Sizes in screen pixels. */
export interface IGuest {
  /** Corners, the best first. */
  readonly corners: readonly Corner[];
  size(): ISize;
  readonly slim: ISize;
  /** Guests of a lower rank choose first. */
  readonly rank: number;
  /** It is not there while this is looked at: it covers nothing. */
  isAway?(sight: ISight): boolean;
  place(at: IPlace): void;
}

/** What is looked at now. */
export interface ISight extends ICameraView {
  readonly scene: IScene;
  readonly index: SceneIndex;
  /** What stands on the wires. */
  readonly labels?: Pick<WireLabels, 'in'> | null;
}

/** The rectangle of something in a corner of a view. */
export function cornerRect(
  corner: Corner,
  { w, h }: ISize,
  view: ISize,
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

/**
 * How much a rectangle on the screen covers: boxes, of an open group its title bar, wires and what stands on
 * them. A box counts most.
 */
export function covered(
  { scene, index, camera, view, labels }: ISight,
  { x, y, w, h }: IRect
): number {
  const all = visibleRect(camera, view);
  const { k } = camera;
  const r = { x: all.x + x / k, y: all.y + y / k, w: w / k, h: h / k };
  const boxes = index.boxesIn(r).filter(box => {
    const rect = boxRect(scene, box);
    return (
      scene.boxKind[box] !== BoxKind.OpenGroup ||
      intersects(r, { ...rect, h: Math.min(rect.h, TITLE_BAR) })
    );
  });
  const wires = index.edgesIn(r).filter(edge => crosses(scene, edge, r));
  const texts = k >= LABELS_FROM ? (labels?.in(r).length ?? 0) : 0;
  return 3 * boxes.length + texts + wires.length;
}

/** The place of a guest; `now` is kept where it is as good as any. */
export function placeOf(
  sight: ISight,
  guest: IGuest,
  taken: readonly IRect[],
  now: IPlace | null
): IPlace {
  const { view } = sight;
  const corners = now ? [now.corner, ...guest.corners] : guest.corners;
  const cost = (corner: Corner, slim: boolean): number => {
    const rect = slim
      ? cornerRect(corner, guest.slim, view, SLIM_MARGIN)
      : cornerRect(corner, guest.size(), view, MARGIN);
    return taken.some(other => intersects(rect, other))
      ? Infinity
      : covered(sight, rect);
  };
  const away = guest.isAway?.(sight) ?? false;
  if (away || (view.w >= LEAST.w && view.h >= LEAST.h)) {
    const most = away ? Number.MAX_VALUE : 0;
    const whole = corners.find(corner => cost(corner, false) <= most);
    if (whole) {
      return { corner: whole, slim: false };
    }
  }
  const costs = corners.map(corner => cost(corner, true));
  const corner = corners[costs.indexOf(Math.min(...costs))];
  return { corner, slim: true };
}

export class Docks {
  private readonly guests = new Map<IGuest, IPlace | null>();
  private look: (() => ISight | null) | null = null;
  private settled: readonly unknown[] = [];

  /** Gives a guest its place, now and later; returns what takes it away. */
  add(guest: IGuest): () => void {
    this.guests.set(guest, null);
    this.settle();
    return () => {
      this.guests.delete(guest);
      this.settled = [];
    };
  }

  /** Decides anew when any of `key` has changed. */
  follow(key: readonly unknown[], look: () => ISight | null): void {
    const same = key.every((one, at) => one === this.settled[at]);
    this.settled = key;
    this.look = look;
    if (!same) {
      this.settle();
    }
  }

  private settle(): void {
    const sight = this.look?.();
    if (!sight || sight.view.w < 1 || sight.view.h < 1) {
      return;
    }
    const taken: IRect[] = [];
    const guests = [...this.guests].sort(([a], [b]) => a.rank - b.rank);
    for (const [guest, now] of guests) {
      const at = placeOf(sight, guest, taken, now);
      const size = at.slim ? guest.slim : guest.size();
      const margin = at.slim ? SLIM_MARGIN : MARGIN;
      taken.push(cornerRect(at.corner, size, sight.view, margin));
      if (at.corner !== now?.corner || at.slim !== now.slim) {
        this.guests.set(guest, at);
        guest.place(at);
      }
    }
  }
}
