import type { ITree } from '../../core/types';
import type { ITranslate } from '../translate';

/** A number per entity painted on the graph. One definition a file. */
export interface IOverlayDefinition<Id extends string = string> {
  readonly id: Id;
  /** `tree` where the label depends on what the host gave for it. */
  label(trans: ITranslate, tree?: ITree): string;
  /** How the number is written: a count with this unit, or bytes. */
  readonly unit: 'params' | 'MACs' | 'FLOPs' | 'bytes' | 'FLOP/B' | '';
  /** False when parts do not add up to a whole; shares are then meaningless. Default true. */
  readonly additive?: boolean;
  /** Whether there is something to show; default always. */
  available?(tree: ITree): boolean;
  /** The number of a node or group, NaN when unknown. */
  value(tree: ITree, entity: number): number;
}
