/** What pictures are made of: rectangles, texts and paths, and what takes them. */
import type { IGraphModel, IScene, ITree } from '../../../core/types';
import type { CardContents } from '../cards/cardContents';
import type { ColorToken, BoxColors } from '../style/boxColors';
import type { TextMeasure } from '../text/textMeasure';

export interface IShape {
  readonly fill?: ColorToken;
  readonly stroke?: ColorToken;
  readonly width?: number;
  readonly opacity?: number;
  /** True: as an outline; else its pattern. */
  readonly dash?: boolean | readonly number[];
}

/** Dashes and gaps of a shape; empty: it is drawn through. */
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

/** Takes primitives; implementations make elements, draw pixels or write a file. */
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
  /** Drawn for somebody who can click on it. */
  readonly controls?: boolean;
}
