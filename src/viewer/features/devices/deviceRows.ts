/** Rows of the device table: contents, order, and texts of cells. */

import type {
  DeviceTimes,
  IDeviceTime
} from '../../../core/latency/deviceTimes';
import { usableDeviceBytes } from '../../../core/latency/latencyEstimate';
import {
  formatBytes,
  formatCount,
  formatSeconds,
  UNKNOWN
} from '../../../core/base/numberFormat';
import type { DevicePrice, HardwarePart } from '../../../schema';
import type { ITranslate } from '../../i18n/translate';
import {
  fitsIn,
  foundDevices,
  labelText,
  precisionText,
  rangeText
} from '../../summary/deviceText';
import { ownValue } from '../../../core/base/ownValue';

/** The most important columns come first, since narrow panes show no more. */
export const COLUMNS = [
  'name',
  'latency',
  'range',
  'fits',
  'bound',
  'label',
  'items',
  'memory',
  'power',
  'price',
  'cost',
  'precision',
  'kind'
] as const;
export type DeviceColumn = (typeof COLUMNS)[number];
export const NUMERIC: ReadonlySet<DeviceColumn> = new Set<DeviceColumn>([
  'latency',
  'range',
  'items',
  'memory',
  'power',
  'price',
  'cost'
]);

export interface IDeviceRow {
  readonly device: number;
  /** Null if the device has no peak for the precision. */
  readonly time: IDeviceTime | null;
  /** Null if the need or the memory is unknown. */
  readonly fits: boolean | null;
  /** Bytes of device memory that a model may use; NaN if unknown. */
  readonly usable: number;
  /** Items of successive inferences per second; NaN if the batch or the time is unknown. */
  readonly itemsPerSecond: number;
  /** NaN if not published. */
  readonly watts: number;
  /** Price per hour; null if the device cannot be rented. */
  readonly price: DevicePrice | null;
  /** Dollars per million items; NaN without a price or a time, or if the model does not fit. */
  readonly cost: number;
}

export interface IDeviceSort {
  readonly column: DeviceColumn;
  readonly descending: boolean;
}

/** One row per device. */
export function rowsOf(
  hardware: HardwarePart,
  times: DeviceTimes,
  precision: string,
  batch: number
): IDeviceRow[] {
  // Payloads of earlier versions lack it.
  const { watts, prices } = hardware.devices as Partial<
    HardwarePart['devices']
  >;
  return times.all(precision).map((time, device) => {
    const usable = usableDeviceBytes(hardware, device);
    const fits = fitsIn(time?.required ?? Number.NaN, usable);
    const itemsPerSecond = time ? batch / time.seconds : Number.NaN;
    const price = prices?.[String(device)] ?? null;
    return {
      device,
      time,
      usable,
      fits,
      itemsPerSecond,
      price,
      watts: watts?.[device] ?? Number.NaN,
      cost:
        price && fits !== false
          ? (price.usd_per_hour / 3600 / itemsPerSecond) * 1e6
          : Number.NaN
    };
  });
}

/** Rows whose device matches all words and, if requested, fits the model; sorted. */
export function shownRows(
  hardware: HardwarePart,
  rows: readonly IDeviceRow[],
  query: string,
  fitting: boolean,
  sort: IDeviceSort
): IDeviceRow[] {
  const matches = foundDevices(hardware.devices, query).flatMap(
    ({ devices }) => devices
  );
  return sortRows(
    hardware,
    matches
      .map(device => rows[device])
      .filter(row => !fitting || row.fits !== false),
    sort
  );
}

const ORDER: Readonly<Record<string, number>> = {
  compute: 0,
  memory: 1,
  overhead: 2
};
const LABELS = ['estimate', 'rough', 'order of magnitude'];

type DeviceCellValue = string | number;

function valueOf(
  hardware: HardwarePart,
  row: IDeviceRow,
  by: DeviceColumn
): DeviceCellValue {
  const { devices } = hardware;
  const { time, device } = row;
  const none = Number.NaN;
  switch (by) {
    case 'name':
      return devices.name[device].toLowerCase();
    case 'kind':
      return devices.category[device];
    case 'precision':
      return time?.precision ?? none;
    case 'latency':
      return time?.seconds ?? none;
    case 'range':
      return time?.high ?? none;
    case 'label': {
      const index = time && time.seconds >= 0 ? LABELS.indexOf(time.label) : -1;
      return index < 0 ? none : index;
    }
    case 'bound':
      return ownValue(ORDER, time?.bound ?? '') ?? none;
    case 'items':
      return row.itemsPerSecond;
    case 'memory':
      return row.usable;
    case 'power':
      return row.watts;
    case 'price':
      return row.price?.usd_per_hour ?? none;
    case 'cost':
      return row.cost;
    case 'fits':
      return row.fits === null ? none : row.fits ? 0 : 1;
  }
}

/**
 * Sorted by one column. Unknown values come last in both directions; for times, so do devices that the
 * model does not fit. Equal rows keep the order of the list.
 */
function sortRows(
  hardware: HardwarePart,
  rows: readonly IDeviceRow[],
  { column, descending }: IDeviceSort
): IDeviceRow[] {
  const timed = ['latency', 'range', 'items', 'cost'].includes(column);
  const keyed = rows.map(row => {
    const value = valueOf(hardware, row, column);
    const unknown = typeof value === 'number' && Number.isNaN(value);
    return {
      row,
      value,
      last: unknown ? 2 : timed && row.fits === false ? 1 : 0
    };
  });
  const sign = descending ? -1 : 1;
  return keyed
    .sort(
      (a, b) =>
        a.last - b.last ||
        (a.last === 2 || a.value === b.value
          ? a.row.device - b.row.device
          : sign * (a.value < b.value ? -1 : 1))
    )
    .map(({ row }) => row);
}

/** The sort order after a click on a header: the better end first, then the other. */
export function nextSort(sort: IDeviceSort, column: DeviceColumn): IDeviceSort {
  const first = column === 'items' || column === 'memory';
  return {
    column,
    descending: sort.column === column ? !sort.descending : first
  };
}

export function columnLabel(column: DeviceColumn, trans: ITranslate): string {
  const labels: Record<DeviceColumn, string> = {
    name: trans.__('Device'),
    kind: trans.__('Kind'),
    precision: trans.__('Precision'),
    latency: trans.__('Latency'),
    range: trans.__('Likely range'),
    label: trans.__('Accuracy'),
    bound: trans.__('Bound by'),
    items: trans.__('Items/s'),
    memory: trans.__('Memory used'),
    power: trans.__('Power'),
    price: trans.__('$/hour'),
    cost: trans.__('$/M items'),
    fits: trans.__('Fits')
  };
  return labels[column];
}

/** What dominates the time. */
export function boundLabel(bound: string, trans: ITranslate): string {
  const labels: Record<string, string> = {
    compute: trans.__('compute'),
    memory: trans.__('memory'),
    overhead: trans.__('kernel starts')
  };
  return ownValue(labels, bound) ?? UNKNOWN;
}

/** The text of a cell; `fits` is a badge. */
export function cellText(
  hardware: HardwarePart,
  { time, device, usable, itemsPerSecond, watts, price, cost }: IDeviceRow,
  column: Exclude<DeviceColumn, 'fits'>,
  requested: string,
  trans: ITranslate
): string {
  const { name, category } = hardware.devices;
  const isKnown = time !== null && time.seconds >= 0;
  const least = isKnown && time.unknown > 0;
  switch (column) {
    case 'name':
      return name[device];
    case 'kind':
      return category[device];
    case 'precision':
      return time
        ? precisionText(time.precision)
        : requested
          ? trans.__('no %1', precisionText(requested))
          : trans.__('no stored precision');
    case 'latency':
      return isKnown
        ? (least ? '≥ ' : '') + formatSeconds(time.seconds)
        : UNKNOWN;
    case 'range':
      // An incomplete sum has no range.
      return isKnown && !least ? rangeText(time.low, time.high) : UNKNOWN;
    case 'label':
      return isKnown ? labelText(time, trans) : UNKNOWN;
    case 'bound':
      return boundLabel(time?.bound ?? '', trans);
    case 'items':
      return itemsPerSecond >= 0
        ? (least ? '≤ ' : '') + formatCount(itemsPerSecond)
        : UNKNOWN;
    case 'power':
      return watts > 0 ? `${watts}\u00a0W` : UNKNOWN;
    case 'price':
      return price ? dollars(price.usd_per_hour) : UNKNOWN;
    case 'cost':
      // With kernels without a time, it is a lower bound.
      return cost >= 0 ? (least ? '≥ ' : '') + dollars(cost) : UNKNOWN;
    case 'memory':
      return !time || Number.isNaN(time.required)
        ? UNKNOWN
        : Number.isNaN(usable)
          ? formatBytes(time.required)
          : trans.__(
              '%1 of %2',
              formatBytes(time.required),
              formatBytes(usable)
            );
  }
}

/** `0.71`: three digits, as prices are approximate. */
function dollars(value: number): string {
  return value >= 1000
    ? formatCount(value)
    : String(Number(value.toPrecision(3)));
}

/** Source of a price: approximate, on demand. */
export function priceTitle(
  { price }: IDeviceRow,
  trans: ITranslate
): string | undefined {
  return price
    ? trans.__(
        'approximate, on demand: %1, %2, %3',
        price.instance,
        price.region,
        price.date
      )
    : undefined;
}
