/** Where the camera goes when the picture changes under it. */
import { PADDING } from '../../../core/layout/paneZoom';
import { BoxKind, type IScene } from '../../../core/types';
import type { ICamera } from '../surfaceApi';
import {
  cameraKeepingPoint,
  boxRect,
  fitScene,
  initialCamera,
  type IRect,
  type IViewSize,
  isReadable,
  readingZoom,
  rowsCamera,
  sceneSize
} from '../geometry/camera';
import { ownBox, mainLineOffset, nearestEntity } from '../scene/entityBoxes';
import { TITLE_BAR } from '../style/metrics';

/** What the camera does by itself until the reader moves it. */
export type AutoCameraMode = 'home' | 'fit';

export function autoCamera(
  scene: IScene,
  view: IViewSize,
  auto: AutoCameraMode
): ICamera {
  const { direction, inRows } = scene;
  if (auto === 'fit') {
    return fitScene(scene, view);
  }
  return inRows
    ? rowsCamera(sceneSize(scene), view)
    : initialCamera(
        sceneSize(scene),
        view,
        direction,
        mainLineOffset(scene, view)
      );
}

/**
 * What stays where it is: the entity the reader acts on (`looked`); when the picture turns, else what
 * stands in the middle of the view; null = nothing.
 */
export function chooseAnchor(
  before: ICameraScene,
  after: IScene,
  looked: number | null
): number | null {
  return before.scene.direction === after.direction
    ? looked
    : (looked ?? nearestEntity(before.scene, before.camera));
}

/** A picture and where it was looked at. */
export interface ICameraScene {
  readonly scene: IScene;
  readonly camera: ICamera;
}

/**
 * The camera for a picture that is too long to be read as a whole: the card of the entity, or of what was
 * first in it, at a zoom that can be read; null where the whole can be, or nothing is left of the entity.
 */
export function readableCamera(
  camera: ICamera,
  view: IViewSize,
  after: IScene,
  entity: number | null
): ICamera | null {
  const box = entity === null ? -1 : firstCard(after, after.boxOf(entity));
  if (box < 0 || isReadable(fitScene(after, view))) {
    return null;
  }
  const { x, y, w, h } = boxRect(after, box);
  return { x: x + w / 2, y: y + h / 2, k: readingZoom(camera) };
}

/** The first card in a box: that itself, or in an open group what stands first along its main line. */
function firstCard(scene: IScene, box: number): number {
  let found = box;
  while (found >= 0 && scene.boxKind[found] === BoxKind.OpenGroup) {
    const panel = found;
    const inside: number[] = [];
    for (let b = panel + 1; b < scene.boxCount; b++) {
      if (
        scene.boxParent[b] === panel &&
        scene.boxKind[b] <= BoxKind.OpenGroup
      ) {
        inside.push(b);
      }
    }
    const along = scene.direction === 'down' ? scene.boxY : scene.boxX;
    // In rows the first begins where the others do.
    const first = (a: number, b: number): boolean =>
      scene.inRows
        ? scene.boxY[b] + scene.boxH[b] < scene.boxY[a] ||
          (scene.boxY[b] < scene.boxY[a] + scene.boxH[a] && along[b] < along[a])
        : along[b] < along[a];
    found = inside.reduce((a, b) => (first(a, b) ? b : a), inside[0] ?? -1);
  }
  return found;
}

/** What is larger than the view begins at this share of it. */
const START_MARGIN_SHARE = 0.1;

/**
 * The camera for a picture that flows the other way: the entity in the middle, or what does not fit there
 * with its beginning in view; null when it has no box.
 */
export function cameraAfterDirectionChange(
  camera: ICamera,
  view: IViewSize,
  after: IScene,
  entity: number | null
): ICamera | null {
  const box = entity === null ? -1 : ownBox(after, entity);
  if (box < 0) {
    return null;
  }
  const { k } = camera;
  const middle = (from: number, length: number, extent: number): number => {
    const room = extent / k;
    return length <= room * (1 - 2 * START_MARGIN_SHARE)
      ? from + length / 2
      : from + room * (0.5 - START_MARGIN_SHARE);
  };
  const { x, y, w, h } = boxRect(after, box);
  return { x: middle(x, w, view.w), y: middle(y, h, view.h), k };
}

/** Of what opened and is larger than the view only its title must be seen. */
const TITLE_WIDTH = 120;
/** So near to a side of the view it may come: the lines of legend and overview have room there. */
export const OPENED_MARGIN = PADDING;

/** Whether the box is the entity's own, or the card of what it is a chip of. */
function stands(scene: IScene, box: number, entity: number | null): boolean {
  return (
    box >= 0 &&
    (scene.boxEntity[box] === entity || scene.boxKind[box] <= BoxKind.Group)
  );
}

/**
 * The camera under which the entity's top left corner stays where it was on the screen, and what must be
 * seen of it: all of it where that fits the view, its title where not; null when it is not in both scenes.
 */
export function cameraHoldingAnchor(
  camera: ICamera,
  view: IViewSize,
  before: IScene,
  after: IScene,
  entity: number | null
): { readonly camera: ICamera; readonly seen: IRect } | null {
  // What opened out of a chip was on a card, and what closed into one is there.
  const old = entity === null ? -1 : before.boxOf(entity);
  const now = entity === null ? -1 : after.boxOf(entity);
  if (!stands(before, old, entity) || !stands(after, now, entity)) {
    return null;
  }
  const rect = boxRect(after, now);
  const fits = (size: number, pixels: number): boolean =>
    size * camera.k <= pixels - 2 * OPENED_MARGIN;
  return {
    camera: cameraKeepingPoint(camera, boxRect(before, old), rect),
    seen: {
      ...rect,
      w: fits(rect.w, view.w) ? rect.w : Math.min(rect.w, TITLE_WIDTH),
      h: fits(rect.h, view.h) ? rect.h : Math.min(rect.h, TITLE_BAR)
    }
  };
}
