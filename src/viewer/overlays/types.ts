import type { IScene, ITree } from '../../core/types';
import type { RampId, Unit } from '../../schema/metrics';
import type { IWireLook } from '../graph/surfaceApi';
import type { ITranslate } from '../i18n/translate';
import type { IScale } from '../../core';

/** One of the states that an overlay shows instead of values. */
export interface IStateLook {
  /** Value of entities in this state, 0 … 1. */
  readonly position: number;
  /** Shows the state without relying on colour. */
  readonly sign: string;
  readonly label: string;
  /** Dashes of its wires, if they differ from the others. */
  readonly dash?: readonly number[];
}

/** States instead of values: each has a colour and a sign, and there is no scale. */
export interface IStates {
  /** True if the graph is that of two models. */
  readonly merged: boolean;
  readonly about: string;
  readonly looks: readonly IStateLook[];
  /** `position` of a node's or group's state. */
  value(entity: number): number;
  color(position: number, dark: boolean): string;
  /** Text on the card. */
  text(entity: number): string;
  /** Sign in the corner of the card; empty for none. */
  sign(entity: number): string;
  /** True to draw only an outline. */
  ghost(entity: number): boolean;
  /** Styles of the edges of a scene that differ from the others. */
  wires?(scene: IScene, dark: boolean): (edge: number) => IWireLook | null;
}

/** An overlay: a value per entity, shown as colour. */
export interface IOverlayDefinition<Id extends string = string> {
  readonly id: Id;
  /** `tree` is needed if the label depends on values from the host. */
  label(trans: ITranslate, tree?: ITree): string;
  /** What the values apply to, if that was chosen. */
  about?(tree: ITree): string;
  /** Format of the values: a count with this unit, bytes, or a time. */
  readonly unit: Unit | '';
  /** Colour ramp; default viridis. */
  readonly ramp?: RampId;
  /** False if values cannot be added up, so that shares are meaningless. Default true. */
  readonly additive?: boolean;
  /** Undefined if there are no states. */
  readonly states?: (tree: ITree) => IStates | undefined;
  /** Whether the overlay has something to show; default always. */
  available?(tree: ITree): boolean;
  /** The value of a node or group; NaN if unknown. */
  value(tree: ITree, entity: number): number;
}

/** The range of values that the overlay's colours currently span. */
export interface IOverlayRange {
  readonly min: number;
  readonly max: number;
  /** Value at the start of the ramp. */
  readonly low: number;
  /** The scale of all values that count, without the brush. */
  readonly fullScale: IScale;
  /** Number of visible boxes in equal parts of that scale. */
  readonly bins: readonly number[];
  /** The visible boxes with the highest values. */
  readonly heaviest: readonly {
    readonly entity: number;
    readonly value: number;
  }[];
  /** Number of visible boxes without a value. */
  readonly unknown: number;
  /** The known values that the colours span. */
  readonly values: readonly number[];
  /** True if the range belongs to an earlier view of the graph. */
  readonly isKept: boolean;
}
