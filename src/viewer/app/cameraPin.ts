/** Keeps the graph in place, and the clicked box in view, when a panel opens next to it. */

import * as React from 'react';
import { useSession } from '../session/sessionContext';
import { boxRect, deltaIntoView } from '../graph/geometry/camera';
import { RootContext, WidthContext } from '../ui/rootContext';
import type { Session } from '../session/session';
import { entityOf } from '../session/entityNames';

/** Milliseconds between the clicks of a double-click on most systems. */
const DOUBLE_CLICK = 400;
/** Screen pixels between the selected box and the edge of the view; for a large box, its title counts. */
const MARGIN = 24;
const TITLE = { w: 180, h: 40 };

/**
 * Returns `open`, with a delay if `isDelayed`: a panel that opens after the first click must not catch the
 * second one.
 */
export function useDelayedOpen(open: boolean, isDelayed: boolean): boolean {
  const [delayed, setLate] = React.useState(open);
  React.useEffect(() => {
    const wait = open && isDelayed ? DOUBLE_CLICK : 0;
    const timer = window.setTimeout(() => setLate(open), wait);
    return () => window.clearTimeout(timer);
  }, [open, isDelayed]);
  return open && (delayed || !isDelayed);
}

/**
 * Once `panelKey` has changed, the camera stays in place instead of moving automatically when the view is
 * resized. Does not apply if the viewer's own width changes.
 */
export function usePinned(panelKey: string): void {
  const session = useSession();
  const width = React.useContext(WidthContext);
  const before = React.useRef({ panelKey, width });
  // Before the surface measures its new size.
  React.useLayoutEffect(() => {
    const { surface } = session.graph;
    const isSameWidth = before.current.width === width;
    if (surface && isSameWidth && before.current.panelKey !== panelKey) {
      surface.setCamera(surface.camera, false);
    }
    before.current = { panelKey, width };
  }, [session, panelKey, width]);
}

/** Pans as little as needed to show the selected box, or its title. */
function revealSelection(session: Session): void {
  const { surface } = session.graph;
  const { document, selection } = session.store.get();
  const entity = document && entityOf(document.model, selection);
  const scene = surface?.scene;
  const box = scene && entity !== null ? scene.boxOf(entity) : -1;
  if (!surface || !scene || box < 0) {
    return;
  }
  const { camera, view } = surface;
  const rect = boxRect(scene, box);
  const w = Math.min(rect.w, TITLE.w / camera.k);
  const h = Math.min(rect.h, TITLE.h / camera.k);
  const { dx, dy } = deltaIntoView(camera, view, { ...rect, w, h }, MARGIN);
  if (dx !== 0 || dy !== 0) {
    const { x, y, k } = camera;
    surface.setCamera({ x: x + dx, y: y + dy, k }, true);
  }
}

/** Keeps the graph in place on the screen when a panel next to it opens, closes or is resized. */
export function useCameraPin(host: React.RefObject<HTMLElement>): void {
  const session = useSession();
  const root = React.useContext(RootContext);
  React.useLayoutEffect(() => {
    const element = host.current;
    if (!element || typeof ResizeObserver === 'undefined') {
      return undefined;
    }
    let before: { width: number; middle: number; size: number } | null = null;
    // The surface was attached earlier, so it has already measured its new size.
    const observer = new ResizeObserver(() => {
      const box = element.getBoundingClientRect();
      const width = root.current?.clientWidth ?? 0;
      const middle = box.left + box.width / 2;
      const size = box.width;
      // If the viewer's own width changes, the surface handles it: it fits again if it was fitted before.
      if (before && before.width === width && before.middle !== middle) {
        const { surface } = session.graph;
        const from = surface?.camera;
        session.graph.onPaneShift(middle - before.middle);
        // Unless the camera is moving to a requested position.
        if (size < before.size && surface?.camera !== from) {
          revealSelection(session);
        }
      }
      before = size > 0 ? { width, middle, size } : null;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [host, root, session]);
}
