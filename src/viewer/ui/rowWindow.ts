/** Windowing for long lists of rows of equal height. */

import { useCallback, useEffect, useState, type RefObject } from 'react';

/** Rows rendered beyond each edge at rest; each is rendered again whenever sizes change. */
const MARGIN = 2;
/** While scrolling, so that fast scrolling shows no gaps. */
const SCROLLING_MARGIN = 12;
/** Milliseconds after the last scroll event. */
const SCROLL_IDLE_MS = 200;
/** Assumed until the element has a size. */
const DEFAULT_HEIGHT = 400;

export interface IWindow {
  /** First row to render, and the one after the last. */
  readonly first: number;
  readonly end: number;
  /** Number of rows that fit on a page. */
  readonly page: number;
  scrollTo(row: number): void;
}

/**
 * The rows to render out of `count` rows of `rowHeight` px. `inset` is the height of sticky content at
 * the top.
 */
export function useWindow(
  scroller: RefObject<HTMLElement>,
  count: number,
  rowHeight: number,
  inset = 0
): IWindow {
  const [view, setView] = useState({ top: 0, height: DEFAULT_HEIGHT });
  const [margin, setMargin] = useState(MARGIN);
  useEffect(() => {
    const element = scroller.current;
    if (!element) {
      return undefined;
    }
    const read = (): void =>
      setView(before => {
        const top = element.scrollTop;
        const height = element.clientHeight || DEFAULT_HEIGHT;
        return before.top === top && before.height === height
          ? before
          : { top, height };
      });
    let idleTimer: number | undefined;
    const scroll = (): void => {
      read();
      setMargin(SCROLLING_MARGIN);
      window.clearTimeout(idleTimer);
      idleTimer = window.setTimeout(() => setMargin(MARGIN), SCROLL_IDLE_MS);
    };
    read();
    element.addEventListener('scroll', scroll, { passive: true });
    const observer =
      typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(read);
    observer?.observe(element);
    return () => {
      element.removeEventListener('scroll', scroll);
      window.clearTimeout(idleTimer);
      observer?.disconnect();
    };
  }, [scroller, count]);
  const page = Math.max(1, Math.floor((view.height - inset) / rowHeight) - 1);
  const scrollTo = useCallback(
    (row: number) => {
      const element = scroller.current;
      if (!element || row < 0) {
        return;
      }
      const height = (element.clientHeight || DEFAULT_HEIGHT) - inset;
      const top = row * rowHeight;
      if (top < element.scrollTop) {
        element.scrollTop = top;
      } else if (top + rowHeight > element.scrollTop + height) {
        element.scrollTop = top + rowHeight - height;
      }
    },
    [scroller, rowHeight, inset]
  );
  // A list that became shorter may be scrolled beyond its end for one frame.
  const top = Math.min(view.top, Math.max(0, count * rowHeight - view.height));
  return {
    first: Math.max(0, Math.floor(top / rowHeight) - margin),
    end: Math.min(count, Math.ceil((top + view.height) / rowHeight) + margin),
    page,
    scrollTo
  };
}

/** The row that a key moves to; null if the key does not move. */
export function rowForKey(
  key: string,
  index: number,
  count: number,
  page: number
): number | null {
  const last = count - 1;
  const clamp = (row: number): number => Math.max(0, Math.min(last, row));
  switch (key) {
    case 'ArrowDown':
      return clamp(index + 1);
    case 'ArrowUp':
      return clamp(index < 0 ? last : index - 1);
    case 'PageDown':
      return clamp(index + page);
    case 'PageUp':
      return clamp(index - page);
    case 'Home':
      return clamp(0);
    case 'End':
      return clamp(last);
    default:
      return null;
  }
}
