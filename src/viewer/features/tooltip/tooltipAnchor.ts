/** The part of a box that its tooltip is attached to, in pixels of the pane. */

import { BoxKind } from '../../../core/types';
import {
  boxRect,
  type ICameraView,
  type IPoint,
  type IRect,
  toScreen
} from '../../graph/geometry/camera';
import { TITLE_BAR } from '../../graph/style/metrics';
import type { IScene } from '../../../core/types';

/** At low zoom, the title bar of an open group is too thin to point at. */
const MIN_BAR_HEIGHT = 12;

/**
 * The box, or the title bar of an open group; null for boxes without a tooltip (connectors and ports).
 */
export function anchorOf(
  scene: IScene,
  box: number,
  { camera, view }: ICameraView
): IRect | null {
  if (box < 0 || box >= scene.boxCount || scene.boxKind[box] > BoxKind.Output) {
    return null;
  }
  const { x, y, w, h } = boxRect(scene, box);
  const { k } = camera;
  const bar = Math.max(MIN_BAR_HEIGHT, TITLE_BAR * k);
  const isOpen = scene.boxKind[box] === BoxKind.OpenGroup;
  return {
    ...toScreen(camera, view, x, y),
    w: w * k,
    h: isOpen ? Math.min(bar, h * k) : h * k
  };
}

/** Very small boxes are treated as slightly larger than drawn. */
const POINTER_SLACK = 2;

export function isOver(rect: IRect, { x, y }: IPoint): boolean {
  return (
    x >= rect.x - POINTER_SLACK &&
    y >= rect.y - POINTER_SLACK &&
    x <= rect.x + rect.w + POINTER_SLACK &&
    y <= rect.y + rect.h + POINTER_SLACK
  );
}
