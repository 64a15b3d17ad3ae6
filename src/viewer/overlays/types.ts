import type { ITree } from '../../core/types';
import type { RampId, Unit } from '../../schema/metrics';
import type { ITranslate } from '../translate';

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
  /** Whether there is something to show; default always. */
  available?(tree: ITree): boolean;
  /** The number of a node or group, NaN when unknown. */
  value(tree: ITree, entity: number): number;
}
