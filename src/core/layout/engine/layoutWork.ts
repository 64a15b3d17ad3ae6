/** The work of a layout engine, on either thread: a layout, or wrapping one into rows. */

import { layered } from '../layered/layered';
import type { IRowOptions } from '../rows/rowedResult';
import { layOutInRows } from '../rows/inRows';
import type {
  ILayoutInput,
  ILayoutOptions,
  ILayoutResult
} from '../layered/layoutTypes';

export type LayoutWork =
  | { readonly input: ILayoutInput; readonly options: ILayoutOptions }
  | {
      readonly input: ILayoutInput;
      readonly straight: ILayoutResult;
      readonly rows: IRowOptions;
    };

export function runLayoutWork(work: LayoutWork): ILayoutResult {
  return 'rows' in work
    ? layOutInRows(work.input, work.straight, work.rows)
    : layered(work.input, work.options);
}
