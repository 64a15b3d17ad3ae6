/** Target of an exported page: primitives with placement and clipping. */
import type { IDrawTarget } from '../graph/draw/drawTarget';

export interface IPageTarget extends IDrawTarget {
  /** Moves subsequent content by (x, y) and then scales it; `title` names it. */
  push(x: number, y: number, k: number, title?: string): void;
  /** Clips subsequent content to the rectangle. */
  clip(x: number, y: number, w: number, h: number): void;
  /** Ends the last `push` or `clip`. */
  pop(): void;
}
