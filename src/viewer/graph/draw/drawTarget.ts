/** Drawing primitives (rectangles, texts and paths) and their targets. */
import type { IGraphModel, IScene, ITree } from '../../../core/types';
import type { CardContents } from '../cards/cardContents';
import type { ColorToken, BoxColors } from '../style/boxColors';
import type { TextMeasure } from '../text/textMeasure';

export interface IShape {
  readonly fill?: ColorToken;
  readonly stroke?: ColorToken;
  readonly width?: number;
  readonly opacity?: number;
  /** True for a default dash, or a dash pattern. */
  readonly dash?: boolean | readonly number[];
}

/** Dash pattern of a shape; empty for a solid line. */
export function dashesOf({ dash }: IShape): readonly number[] {
  return dash === true ? [4, 3] : dash || [];
}

export interface ITextStyle {
  readonly size: number;
  readonly weight?: number;
  readonly fill: ColorToken;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly opacity?: number;
}

/** Receives primitives; implementations create elements, paint pixels or write a file. */
export interface IDrawTarget {
  rect(
    x: number,
    y: number,
    w: number,
    h: number,
    r: number,
    shape: IShape
  ): void;
  /** `d` uses only M, L, H, V, C, Q and Z. */
  path(d: string, shape: IShape): void;
  /** `y` is the baseline. */
  text(x: number, y: number, text: string, style: ITextStyle): void;
}

export interface IDrawContext {
  readonly scene: IScene;
  readonly model: IGraphModel;
  readonly tree: ITree;
  readonly paint: BoxColors;
  readonly cards: CardContents;
  readonly measure: TextMeasure;
  /** True if the drawing is interactive. */
  readonly controls?: boolean;
}
