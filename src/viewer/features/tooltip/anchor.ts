/** The part of a box beside which its tip stands, in pixels of the pane. */

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

/** From afar the title bar of an open group is thinner than a pointer can find. */
const MIN_BAR_HEIGHT = 12;

/** The box, or of an open group its title bar; null for what has no tip: stubs and ports. */
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

/** Boxes that a pointer can hardly hit are a little larger than they are drawn. */
const SLACK = 2;

export function isOver(rect: IRect, { x, y }: IPoint): boolean {
  return (
    x >= rect.x - SLACK &&
    y >= rect.y - SLACK &&
    x <= rect.x + rect.w + SLACK &&
    y <= rect.y + rect.h + SLACK
  );
}
