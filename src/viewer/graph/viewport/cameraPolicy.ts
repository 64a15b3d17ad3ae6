/** Policies for the camera when the graph changes. */
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

/** Automatic mode of the camera until the user moves it. */
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
 * The entity to keep in place: the one the user acts on (`looked`), or, if the direction changes, else
 * the one in the middle of the view; null for none.
 */
export function chooseAnchor(
  before: ICameraScene,
  after: IScene,
  focused: number | null
): number | null {
  return before.scene.direction === after.direction
    ? focused
    : (focused ?? nearestEntity(before.scene, before.camera));
}

/** A scene and its camera. */
export interface ICameraScene {
  readonly scene: IScene;
  readonly camera: ICamera;
}

/**
 * The camera for a graph that is too long to be readable as a whole: the entity's card, or the first card
 * in it, at a readable zoom; null if the whole graph is readable or the entity has no box.
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

/** The first card in a box: the box itself, or in an open group the first one along its main line. */
function firstCard(scene: IScene, box: number): number {
  let ancestor = box;
  while (ancestor >= 0 && scene.boxKind[ancestor] === BoxKind.OpenGroup) {
    const panel = ancestor;
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
    // In rows, the first one is the leftmost of the topmost row.
    const first = (a: number, b: number): boolean =>
      scene.inRows
        ? scene.boxY[b] + scene.boxH[b] < scene.boxY[a] ||
          (scene.boxY[b] < scene.boxY[a] + scene.boxH[a] && along[b] < along[a])
        : along[b] < along[a];
    ancestor = inside.reduce((a, b) => (first(a, b) ? b : a), inside[0] ?? -1);
  }
  return ancestor;
}

/** Boxes larger than the view start at this share of it. */
const START_MARGIN_SHARE = 0.1;

/**
 * The camera after a direction change: centres the entity, or shows its beginning if it does not fit;
 * null if it has no box.
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
    const viewLength = extent / k;
    return length <= viewLength * (1 - 2 * START_MARGIN_SHARE)
      ? from + length / 2
      : from + viewLength * (0.5 - START_MARGIN_SHARE);
  };
  const { x, y, w, h } = boxRect(after, box);
  return { x: middle(x, w, view.w), y: middle(y, h, view.h), k };
}

/** For an expanded box larger than the view, only its title must be visible. */
const TITLE_WIDTH = 120;
/** Minimum distance from the sides of the view, which leaves space for legend and minimap as lines. */
export const OPENED_MARGIN = PADDING;

/** True if the box is the entity's own, or the card on which it is a chip. */
function isDrawnAs(scene: IScene, box: number, entity: number | null): boolean {
  return (
    box >= 0 &&
    (scene.boxEntity[box] === entity || scene.boxKind[box] <= BoxKind.Group)
  );
}

/**
 * The camera that keeps the entity's top left corner in place on the screen, and the part of it that must
 * be visible: all of it if it fits the view, else its title. Null if the entity is not in both scenes.
 */
export function cameraHoldingAnchor(
  camera: ICamera,
  view: IViewSize,
  before: IScene,
  after: IScene,
  entity: number | null
): { readonly camera: ICamera; readonly visible: IRect } | null {
  // A group expanded from a chip was on a card before; one collapsed into a chip is on it now.
  const old = entity === null ? -1 : before.boxOf(entity);
  const now = entity === null ? -1 : after.boxOf(entity);
  if (!isDrawnAs(before, old, entity) || !isDrawnAs(after, now, entity)) {
    return null;
  }
  const rect = boxRect(after, now);
  const fitsIn = (size: number, pixels: number): boolean =>
    size * camera.k <= pixels - 2 * OPENED_MARGIN;
  return {
    camera: cameraKeepingPoint(camera, boxRect(before, old), rect),
    visible: {
      ...rect,
      w: fitsIn(rect.w, view.w) ? rect.w : Math.min(rect.w, TITLE_WIDTH),
      h: fitsIn(rect.h, view.h) ? rect.h : Math.min(rect.h, TITLE_BAR)
    }
  };
}
