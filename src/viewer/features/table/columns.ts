/** The columns of the table: contents and appearance. */

import type { ITree, MetricId } from '../../../core/types';
import {
  formatBytes,
  formatCount,
  formatSeconds,
  formatShare
} from '../../../core';
import {
  METRIC_COLUMNS,
  METRICS,
  type DerivedMetric,
  type Unit
} from '../../../schema/metrics';
import type { ITranslate } from '../../i18n/translate';

const TEXTS = [
  'name',
  'op',
  'module',
  'classes',
  'tag',
  'input_shape',
  'output_shape',
  'dtype'
] as const;

/** Columns that hold a number; shares sort like the underlying number. */
export type NumericColumn = keyof typeof METRIC_COLUMNS;
export type TextColumn = (typeof TEXTS)[number];
export type ColumnId = TextColumn | NumericColumn;
/** What a number in the table measures. */
export type ColumnMeasure = MetricId | DerivedMetric;

const NUMBERS = Object.keys(METRIC_COLUMNS) as NumericColumn[];

/** All columns, in order. */
export const COLUMN_IDS: readonly ColumnId[] = [...TEXTS, ...NUMBERS];

export function isNumeric(column: ColumnId): column is NumericColumn {
  return Object.hasOwn(METRIC_COLUMNS, column);
}

export function measureOf(column: NumericColumn): ColumnMeasure {
  return METRIC_COLUMNS[column];
}

/** True if the number is derived from others and has no column in the model. */
export function isDerived(measure: ColumnMeasure): measure is DerivedMetric {
  return METRICS[measure].over !== undefined;
}

export function isShare(column: ColumnId): boolean {
  return column.endsWith('_share');
}

interface IColumn {
  label(trans: ITranslate): string;
  /** Pixels; wide columns also share the remaining width. */
  readonly width: number;
  readonly grows?: boolean;
  /** Hidden by default. */
  readonly extra?: boolean;
}

/** Widths of numbers by unit, if they differ from that of a count. */
const WIDTHS: Partial<Record<Unit, number>> = { bytes: 92, 'FLOP/B': 80 };
const COUNT = 84;
/** Maximum length of a header above a count. */
const MAX_SHORT_HEADER = 8;

function numberColumn(id: NumericColumn): IColumn {
  const { label, short, share, unit } = METRICS[measureOf(id)];
  if (share && isShare(id)) {
    const isLong = share({ __: text => text }).length > MAX_SHORT_HEADER;
    return {
      label: share,
      width: isLong ? COUNT + 4 : COUNT,
      // The shares of MACs and times are more informative.
      extra: id === 'params_share'
    };
  }
  return { label: short ?? label, width: WIDTHS[unit] ?? COUNT };
}

export const COLUMNS: Readonly<Record<ColumnId, IColumn>> = {
  name: { label: t => t.__('Name'), width: 190, grows: true },
  op: { label: t => t.__('Operator'), width: 130 },
  module: { label: t => t.__('Module'), width: 150, grows: true },
  classes: {
    label: t => t.__('Classes'),
    width: 150,
    grows: true,
    extra: true
  },
  tag: { label: t => t.__('Tag'), width: 190, grows: true, extra: true },
  input_shape: { label: t => t.__('Input shape'), width: 120 },
  output_shape: { label: t => t.__('Output shape'), width: 120 },
  dtype: { label: t => t.__('Type'), width: 76 },
  ...(Object.fromEntries(NUMBERS.map(id => [id, numberColumn(id)])) as Record<
    NumericColumn,
    IColumn
  >)
};

/** The columns with contents: times need a device, tags a recording exporter. */
export function offeredColumns({ model }: ITree): ColumnId[] {
  return COLUMN_IDS.filter(id =>
    isNumeric(id)
      ? !METRICS[measureOf(id)].device || model.latency !== null
      : id !== 'tag' || Boolean(model.payload.modules)
  );
}

/** The columns to show; names of unknown columns are ignored. */
export function shownColumns(
  offered: readonly ColumnId[],
  columns: readonly string[] | null
): ColumnId[] {
  return offered.filter(
    id =>
      // A row needs a name.
      id === 'name' || (columns ? columns.includes(id) : !COLUMNS[id].extra)
  );
}

/** Short text of a number; `total` is the model's, for shares. */
export function formatCell(
  column: NumericColumn,
  value: number,
  total: number
): string {
  return isShare(column)
    ? formatShare(total > 0 ? value / total : Number.NaN)
    : formatAmount(measureOf(column), value);
}

/** Short text of a number with its unit, where the column header does not show it. */
export function formatAmount(measure: ColumnMeasure, value: number): string {
  switch (METRICS[measure].unit) {
    case 's':
      return formatSeconds(value);
    case 'bytes':
      return formatBytes(value);
    default:
      return formatCount(value);
  }
}

/** A column and the position of its cells in their rows. */
export interface IColumnPlace {
  readonly id: ColumnId;
  readonly style: { readonly left: string; readonly width: string };
}

export interface ITableGrid {
  readonly positions: readonly IColumnPlace[];
  /** Minimum total width, in pixels. */
  readonly width: number;
}

/**
 * Cells are positioned individually rather than by a CSS grid: when a text changes, the browser can then
 * lay out that cell alone instead of every column of its row.
 */
export function gridOf(columns: readonly ColumnId[]): ITableGrid {
  const sum = (ids: readonly ColumnId[]): number =>
    ids.reduce((width, id) => width + COLUMNS[id].width, 0);
  const growing = (ids: readonly ColumnId[]): number =>
    sum(ids.filter(id => COLUMNS[id].grows));
  const width = sum(columns);
  // The width of the row beyond `width` is shared among the growing columns.
  const length = (ids: readonly ColumnId[]): string =>
    `calc(${sum(ids)}px + ${growing(ids) / growing(columns)} * (100% - ${width}px))`;
  const positions = columns.map((id, index) => ({
    id,
    style: { left: length(columns.slice(0, index)), width: length([id]) }
  }));
  return { positions, width };
}
