import { createContext, type RefObject } from 'react';

/** The viewer's root element. */
export const RootContext = createContext<RefObject<HTMLElement>>({
  current: null
});

/** Width of the viewer in pixels, so that its parts can adapt. */
export const WidthContext = createContext<number>(0);
