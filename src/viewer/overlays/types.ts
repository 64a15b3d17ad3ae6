import type { ITree } from '../../core/types';
import type { ITranslate } from '../translate';

/** A number per entity painted on the graph. One definition a file. */
export interface IOverlayDefinition<Id extends string = string> {
  readonly id: Id;
  label(trans: ITranslate): string;
  /** How the number is written: a count with this unit, or bytes. */
  readonly unit: 'params' | 'MACs' | 'FLOPs' | 'bytes';
  /** The number of a node or group, NaN when unknown. */
  value(tree: ITree, entity: number): number;
}
