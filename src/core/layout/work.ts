/** The work of an engine, wherever it is done: a layout, or a layout to set in rows. */

import { layered } from './layered';
import type { IRowOptions } from './rows/result';
import { inRows } from './rows/rows';
import type { ILayoutInput, ILayoutOptions, ILayoutResult } from './types';

export type Work =
  | { readonly input: ILayoutInput; readonly options: ILayoutOptions }
  | {
      readonly input: ILayoutInput;
      readonly straight: ILayoutResult;
      readonly rows: IRowOptions;
    };

export function done(work: Work): ILayoutResult {
  return 'rows' in work
    ? inRows(work.input, work.straight, work.rows)
    : layered(work.input, work.options);
}
