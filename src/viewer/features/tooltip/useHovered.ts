import * as React from 'react';
import type { IPoint, IRect } from '../../graph/geometry/camera';
import type { Session } from '../../session/session';
import { anchorOf, isOver } from './tooltipAnchor';
import { HoverDelay } from './hoverDelay';

/** A box that was rested on, and its rectangle in the pane. */
export interface IHoveredBox {
  readonly box: number;
  readonly rect: IRect;
  /** True if the keyboard is on it rather than the pointer. */
  readonly byKey: boolean;
}

/** Keys used together with the pointer. */
const MODIFIERS = new Set(['Control', 'Shift', 'Alt', 'Meta']);

/** The box under the pointer or the keyboard focus, after a delay; null if there is none. */
export function useHovered(
  session: Session,
  now: { readonly current: Pick<IHoveredBox, 'box' | 'byKey'> }
): IHoveredBox | null {
  const [hovered, setHovered] = React.useState<IHoveredBox | null>(null);
  React.useEffect(() => {
    let byKey = false;
    /** Position of the pointer; null until it has moved. */
    let pointer: IPoint | null = null;
    let anchor: IRect | null = null;
    const delay = new HoverDelay(box => {
      const { surface } = session.graph;
      const rect =
        surface?.scene && box >= 0
          ? anchorOf(surface.scene, box, surface)
          : null;
      // The graph may have moved away from under the pointer.
      const isHere =
        rect !== null && (byKey || !pointer || isOver(rect, pointer));
      anchor = isHere ? rect : null;
      setHovered(isHere ? { box, rect, byKey } : null);
      return isHere;
    });
    const onBox = (box: number, isKey: boolean): void => {
      byKey = isKey;
      delay.to(box);
    };
    const listener = {
      onScene: () => delay.reset(),
      onCamera: () => delay.moved(),
      onHover: (_: unknown, box: number) => onBox(box, false),
      onRing: (box: number) => {
        if (box >= 0 || byKey) {
          onBox(box, true);
        }
      }
    };
    session.listeners.add(listener);
    onBox(now.current.box, now.current.byKey);
    const end = new AbortController();
    const { signal } = end;
    const listen = <K extends keyof DocumentEventMap>(
      type: K,
      handler: (event: DocumentEventMap[K]) => void
    ): void =>
      document.addEventListener(type, handler, { capture: true, signal });
    // A click, a key for something else, or Escape dismisses the tooltip.
    listen('pointerdown', () => delay.dismiss());
    listen('keydown', ({ key }) => MODIFIERS.has(key) || delay.dismiss());
    listen('pointermove', ({ clientX, clientY }) => {
      const root = session.graph.surface?.root;
      if (root && !byKey) {
        const r = root.getBoundingClientRect();
        pointer = { x: clientX - r.left, y: clientY - r.top };
        if (anchor && !isOver(anchor, pointer)) {
          delay.leave();
        }
        delay.again();
      }
    });
    return () => {
      end.abort();
      delay.reset();
      session.listeners.delete(listener);
    };
  }, [session, now]);
  return hovered;
}
