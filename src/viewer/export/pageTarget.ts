/** What an exported page is drawn into: primitives as everywhere, placed and clipped. */
import type { IDrawTarget } from '../graph/draw/drawTarget';

export interface IPageTarget extends IDrawTarget {
  /** What follows is moved by (x, y) and then scaled; `title` says what it is. */
  push(x: number, y: number, k: number, title?: string): void;
  /** What follows shows only inside the rectangle. */
  clip(x: number, y: number, w: number, h: number): void;
  /** Ends the last `push` or `clip`. */
  pop(): void;
}
