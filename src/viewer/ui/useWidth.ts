import { useLayoutEffect, useState, type RefObject } from 'react';
import { WIDE } from '../session/panels';

/** Width of an element in pixels, kept up to date. Taken as wide until it is known. */
export function useWidth(element: RefObject<HTMLElement>): number {
  const [width, setWidth] = useState(WIDE);
  useLayoutEffect(() => {
    const target = element.current;
    if (!target) {
      return undefined;
    }
    const read = (): void => {
      if (target.clientWidth > 0) {
        setWidth(target.clientWidth);
      }
    };
    read();
    if (typeof ResizeObserver === 'undefined') {
      return undefined;
    }
    const observer = new ResizeObserver(read);
    observer.observe(target);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
