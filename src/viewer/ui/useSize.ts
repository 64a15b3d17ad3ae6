import { useLayoutEffect, useState, type RefObject } from 'react';

export interface IElementSize {
  readonly width: number;
  readonly height: number;
}

const NOTHING: IElementSize = { width: 0, height: 0 };

/** Size of an element in pixels, kept up to date; `initial` until it is known. */
export function useSize(
  element: RefObject<HTMLElement>,
  initial: IElementSize = NOTHING
): IElementSize {
  const [size, setSize] = useState(initial);
  useLayoutEffect(() => {
    const target = element.current;
    if (!target) {
      return undefined;
    }
    const read = (): void => {
      const { clientWidth: width, clientHeight: height } = target;
      if (width > 0 || height > 0) {
        setSize(before =>
          before.width === width && before.height === height
            ? before
            : { width, height }
        );
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
  return size;
}
