/** The columns of the table: what they hold and how they look. */

import type { ITree, MetricId } from '../../core/types';
import {
  formatBytes,
  formatCount,
  formatSeconds,
  formatShare
} from '../../core';
import type { ITranslate } from '../translate';

/** All columns, in order. */
export const COLUMN_IDS = [
  'name',
  'op',
  'module',
  'classes',
  'tag',
  'input_shape',
  'output_shape',
  'dtype',
  'params',
  'params_share',
  'weight_bytes',
  'macs',
  'macs_share',
  'flops',
  'latency_s',
  'latency_share',
  'read_bytes',
  'write_bytes',
  'activation_bytes',
  'intensity'
] as const;
export type ColumnId = (typeof COLUMN_IDS)[number];

/** Columns that hold a number, and its metric; shares sort as what they are shares of. */
const METRIC_OF = {
  params: 'params',
  params_share: 'params',
  weight_bytes: 'weight_bytes',
  macs: 'macs',
  macs_share: 'macs',
  flops: 'flops',
  read_bytes: 'read_bytes',
  write_bytes: 'write_bytes',
  activation_bytes: 'activation_bytes',
  latency_s: 'latency',
  latency_share: 'latency',
  intensity: 'intensity'
} as const satisfies Partial<Record<ColumnId, MetricId | 'intensity'>>;

export type NumericColumn = keyof typeof METRIC_OF;
export type TextColumn = Exclude<ColumnId, NumericColumn>;
/** What a number of the table is; `intensity` is FLOPs per byte moved. */
export type Measure = MetricId | 'intensity';

export function isNumeric(column: ColumnId): column is NumericColumn {
  return Object.hasOwn(METRIC_OF, column);
}

export function measureOf(column: NumericColumn): Measure {
  return METRIC_OF[column];
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
  params: { label: t => t.__('Params'), width: 84 },
  params_share: { label: t => t.__('% params'), width: 84, extra: true },
  weight_bytes: { label: t => t.__('Weights'), width: 92 },
  macs: { label: t => t.__('MACs'), width: 84 },
  macs_share: { label: t => t.__('% MACs'), width: 84 },
  flops: { label: t => t.__('FLOPs'), width: 84 },
  latency_s: { label: t => t.__('Latency'), width: 84 },
  latency_share: { label: t => t.__('% latency'), width: 88 },
  read_bytes: { label: t => t.__('Read'), width: 92 },
  write_bytes: { label: t => t.__('Written'), width: 92 },
  activation_bytes: { label: t => t.__('Activation'), width: 92 },
  intensity: { label: t => t.__('FLOP/B'), width: 80 }
};

/** The columns that there is something in: times are of a device, tags what an exporter recorded. */
export function offeredColumns({ model }: ITree): ColumnId[] {
  return COLUMN_IDS.filter(id =>
    isNumeric(id)
      ? measureOf(id) !== 'latency' || model.latency !== null
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
export function formatAmount(measure: Measure, value: number): string {
  switch (measure) {
    case 'latency':
      return formatSeconds(value);
    case 'weight_bytes':
    case 'read_bytes':
    case 'write_bytes':
    case 'activation_bytes':
      return formatBytes(value);
    default:
      return formatCount(value);
  }
}

/** A column and where its cells are in their rows. */
export interface IPlace {
  readonly id: ColumnId;
  readonly style: { readonly left: string; readonly width: string };
}

export interface IGrid {
  readonly places: readonly IPlace[];
  /** The least width of all together, in pixels. */
  readonly width: number;
}

/**
 * Cells are placed one by one and not by a CSS grid: the browser can then lay out each by itself when
 * its text changes, instead of every column of its row.
 */
export function gridOf(columns: readonly ColumnId[]): IGrid {
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
