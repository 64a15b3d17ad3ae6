import type { Selection } from './types';

/** More selected things than these are not remembered. */
export const MAX_SELECTION_RECORDS = 200;

/** How a selection is remembered: by id and, should the file have changed, by name. */
export interface ISelectionRecord {
  readonly kind: Selection['kind'];
  readonly id: number;
  readonly name: string;
}
