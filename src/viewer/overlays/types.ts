import type { IScene, ITree } from '../../core/types';
import type { RampId, Unit } from '../../schema/metrics';
import type { IWireLook } from '../graph/surfaceApi';
import type { ITranslate } from '../i18n/translate';
import type { IScale } from '../../core';

/** One of a few states that an overlay shows instead of numbers. */
export interface IStateLook {
  /** Value of what is in this state, 0 … 1. */
  readonly place: number;
  /** Tells it without the colour. */
  readonly sign: string;
  readonly label: string;
  /** Dashes of its wires, where they are not like the others. */
  readonly dash?: readonly number[];
}

/** States instead of numbers: each has its own colour and sign, and there is no scale. */
export interface IStates {
  /** Whether the graph is that of two models. */
  readonly merged: boolean;
  readonly about: string;
  readonly looks: readonly IStateLook[];
  /** `place` of the state of a node or group. */
  value(entity: number): number;
  color(place: number, dark: boolean): string;
  /** On the card. */
  text(entity: number): string;
  /** In the corner of the card; empty = none. */
  sign(entity: number): string;
  /** Whether only an outline is drawn. */
  ghost(entity: number): boolean;
  /** How the edges of a scene are drawn that are not like the others. */
  wires?(scene: IScene, dark: boolean): (edge: number) => IWireLook | null;
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
  /** Undefined where nothing is known of them. */
  readonly states?: (tree: ITree) => IStates | undefined;
  /** Whether there is something to show; default always. */
  available?(tree: ITree): boolean;
  /** The number of a node or group, NaN when unknown. */
  value(tree: ITree, entity: number): number;
}

/** What the overlay's colours span now. */
export interface IOverlayRange {
  readonly min: number;
  readonly max: number;
  /** The value at the ramp's start. */
  readonly low: number;
  /** The scale of all values that count, without the brush. */
  readonly fullScale: IScale;
  /** Visible boxes by equal parts of that scale. */
  readonly bins: readonly number[];
  /** The heaviest visible boxes. */
  readonly heaviest: readonly {
    readonly entity: number;
    readonly value: number;
  }[];
  /** Visible boxes without a number. */
  readonly unknown: number;
  /** The known numbers that the colours span. */
  readonly values: readonly number[];
  /** They are of another picture than the one that is shown. */
  readonly kept: boolean;
}
