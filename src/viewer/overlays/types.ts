import type { ITree } from '../../core/types';
import type { RampId, Unit } from '../../schema/metrics';
import type { ITranslate } from '../translate';
import type { IScale } from '../../core';

/** One of a few states that an overlay shows instead of numbers. */
export interface IStateLook {
  /** Value of what is in this state, 0 … 1. */
  readonly place: number;
  /** Tells it without the colour. */
  readonly sign: string;
  readonly label: string;
}

/** An overlay of states: each has its own colour and sign, and there is no scale. */
export interface IStates {
  looks(tree: ITree): readonly IStateLook[];
  color(place: number, dark: boolean): string;
  /** On the card. */
  text(tree: ITree, entity: number): string;
  /** In the corner of the card; empty = none. */
  sign(tree: ITree, entity: number): string;
  /** Whether only an outline is drawn. */
  ghost(tree: ITree, entity: number): boolean;
}

/** A number per entity painted on the graph. */
export interface IOverlayDefinition<Id extends string = string> {
  readonly id: Id;
  /** `tree` where the label depends on what the host gave for it. */
  label(trans: ITranslate, tree?: ITree): string;
  /** What the numbers hold for, where that was chosen. */
  about?(tree: ITree): string;
  /** How the number is written: a count with this unit, bytes, or a time. */
  readonly unit: Unit | '';
  /** Its colours; default viridis. */
  readonly ramp?: RampId;
  /** False when parts do not add up to a whole; shares are then meaningless. Default true. */
  readonly additive?: boolean;
  readonly states?: IStates;
  /** Whether there is something to show; default always. */
  available?(tree: ITree): boolean;
  /** The number of a node or group, NaN when unknown. */
  value(tree: ITree, entity: number): number;
}

/** What the overlay's colours span now. */
export interface IRange {
  readonly min: number;
  readonly max: number;
  /** The value at the ramp's start. */
  readonly low: number;
  /** The scale of all values that count, without the brush. */
  readonly whole: IScale;
  /** Visible boxes by equal parts of that scale. */
  readonly bins: readonly number[];
  /** The heaviest visible boxes. */
  readonly top: readonly { readonly entity: number; readonly value: number }[];
  /** Visible boxes without a number. */
  readonly unknown: number;
  /** The known numbers that the colours span. */
  readonly values: readonly number[];
  /** They are of another picture than the one that is shown. */
  readonly kept: boolean;
}
