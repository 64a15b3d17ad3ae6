import type { Selection } from './types';

/** Maximum number of selected entities that are stored. */
export const MAX_SELECTION_RECORDS = 200;

/** A stored selection: by id and, in case the file changes, by name. */
export interface ISelectionRecord {
  readonly kind: Selection['kind'];
  readonly id: number;
  readonly name: string;
}
