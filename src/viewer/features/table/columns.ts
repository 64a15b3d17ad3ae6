/** The columns of the table: what they hold and how they look. */

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

/** Columns that hold a number; those of shares sort as what they are shares of. */
export type NumericColumn = keyof typeof METRIC_COLUMNS;
export type TextColumn = (typeof TEXTS)[number];
export type ColumnId = TextColumn | NumericColumn;
/** What a number of the table is. */
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

/** Whether the number is computed from others, and has no column of its own in the model. */
export function isDerived(measure: ColumnMeasure): measure is DerivedMetric {
  return METRICS[measure].over !== undefined;
}

export function isShare(column: ColumnId): boolean {
  return column.endsWith('_share');
}

interface IColumn {
  label(trans: ITranslate): string;
  /** Pixels; wide columns also take what is left. */
  readonly width: number;
  readonly grows?: boolean;
  /** Not shown until it is asked for. */
  readonly extra?: boolean;
}

/** Widths of numbers by their unit, where it is not that of a count. */
const WIDTHS: Partial<Record<Unit, number>> = { bytes: 92, 'FLOP/B': 80 };
const COUNT = 84;
/** Characters of a head that fit a count. */
const HEAD = 8;

function numberColumn(id: NumericColumn): IColumn {
  const { label, short, share, unit } = METRICS[measureOf(id)];
  if (share && isShare(id)) {
    const isLong = share({ __: text => text }).length > HEAD;
    return {
      label: share,
      width: isLong ? COUNT + 4 : COUNT,
      // Those of MACs and times say more.
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

/** The columns that there is something in: times are of a device, tags what an exporter recorded. */
export function offeredColumns({ model }: ITree): ColumnId[] {
  return COLUMN_IDS.filter(id =>
    isNumeric(id)
      ? !METRICS[measureOf(id)].device || model.latency !== null
      : id !== 'tag' || Boolean(model.payload.modules)
  );
}

/** Of these the columns to show; names of columns that are no more are left out. */
export function shownColumns(
  offered: readonly ColumnId[],
  chosen: readonly string[] | null
): ColumnId[] {
  return offered.filter(
    id =>
      // A row without a name would be no row.
      id === 'name' || (chosen ? chosen.includes(id) : !COLUMNS[id].extra)
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

/** Short text of a number with its unit, where the head of the column does not say it. */
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

/** A column and where its cells are in their rows. */
export interface IColumnPlace {
  readonly id: ColumnId;
  readonly style: { readonly left: string; readonly width: string };
}

export interface ITableGrid {
  readonly places: readonly IColumnPlace[];
  /** The least width of all together, in pixels. */
  readonly width: number;
}

/**
 * Cells are placed one by one and not by a CSS grid: the browser can then lay out each by itself when
 * its text changes, instead of every column of its row.
 */
export function gridOf(columns: readonly ColumnId[]): ITableGrid {
  const sum = (ids: readonly ColumnId[]): number =>
    ids.reduce((width, id) => width + COLUMNS[id].width, 0);
  const growing = (ids: readonly ColumnId[]): number =>
    sum(ids.filter(id => COLUMNS[id].grows));
  const width = sum(columns);
  // What the row has beyond `width` is shared among the columns that grow.
  const length = (ids: readonly ColumnId[]): string =>
    `calc(${sum(ids)}px + ${growing(ids) / growing(columns)} * (100% - ${width}px))`;
  const places = columns.map((id, at) => ({
    id,
    style: { left: length(columns.slice(0, at)), width: length([id]) }
  }));
  return { places, width };
}
