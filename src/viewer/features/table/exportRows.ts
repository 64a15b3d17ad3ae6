/** The visible rows as CSV, tab-separated text and JSON: exact numbers, unknown ones empty or null. */

import { delimitedText, type Cell } from '../../../core/base/delimitedText';
import { METRICS } from '../../../schema/metrics';
import { deviceLabel } from '../../overlays/deviceLabel';
import {
  isNumeric,
  isShare,
  measureOf,
  type ColumnId,
  type ColumnMeasure
} from './columns';
import type { IRowsView, LayerTable } from './layerTable';

export interface IExport {
  readonly table: LayerTable;
  readonly view: IRowsView;
  readonly columns: readonly ColumnId[];
}

/**
 * Names of the fields. Blocks add three: depth, layers, and layers with an unknown number; times add
 * their device and precision.
 */
function fieldsOf(source: IExport): string[] {
  const { columns, view } = source;
  const blocks = view.depths.length > 0;
  return [
    ...(blocks ? ['level', 'layers', 'layers_unknown'] : []),
    ...columns,
    ...(isTimed(source) ? ['latency_device'] : [])
  ];
}

function isTimed({ columns }: IExport): boolean {
  return columns.some(id => isNumeric(id) && METRICS[measureOf(id)].device);
}

/** The cells of every row, in the order of the fields. */
function* cellsOf(source: IExport): Generator<Cell[]> {
  const { table, view, columns } = source;
  const { model } = table.tree;
  const { nodeCount } = model;
  const device = isTimed(source) ? deviceLabel(model) : null;
  const { sums, depths, entities } = view;
  const totals = new Map<ColumnMeasure, number>();
  const measures = columns.filter(isNumeric).map(measureOf);
  for (const measure of measures) {
    totals.set(measure, table.whole.total(measure).value);
  }
  for (let row = 0; row < entities.length; row++) {
    const entity = entities[row];
    const group = entity - nodeCount;
    const cells: Cell[] = [];
    if (depths.length > 0) {
      const unknown = measures.map(measure =>
        group >= 0
          ? sums.group(measure, group).unknown
          : Number(Number.isNaN(table.value(measure, entity, sums)))
      );
      cells.push(depths[row], group >= 0 ? sums.count[group] : 1);
      cells.push(Math.max(0, ...unknown));
    }
    for (const column of columns) {
      if (!isNumeric(column)) {
        cells.push(table.text(column, entity));
        continue;
      }
      const measure = measureOf(column);
      const value = table.value(measure, entity, sums);
      const total = totals.get(measure) ?? 0;
      const displayed = isShare(column)
        ? total > 0
          ? Number((value / total).toFixed(6))
          : Number.NaN
        : value;
      cells.push(Number.isFinite(displayed) ? displayed : null);
    }
    if (device !== null) {
      cells.push(device);
    }
    yield cells;
  }
}

function* tableOf(source: IExport): Generator<readonly Cell[]> {
  yield fieldsOf(source);
  yield* cellsOf(source);
}

/** RFC 4180. */
export function rowsCsv(source: IExport): string {
  return delimitedText(tableOf(source), ',');
}

/** Tab-separated, which spreadsheets paste as cells. */
export function rowsTsv(source: IExport): string {
  return delimitedText(tableOf(source), '\t');
}

/** One object per row; unknown values are null. */
export function rowsJson(source: IExport): string {
  const fields = fieldsOf(source);
  const rows = Array.from(cellsOf(source), cells =>
    Object.fromEntries(cells.map((cell, index) => [fields[index], cell]))
  );
  return `${JSON.stringify(rows, null, 2)}\n`;
}
