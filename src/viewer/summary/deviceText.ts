/** Texts of the device list: search, grouping, and descriptions. */

import {
  errorBandOf,
  deviceOf,
  hardwareOf,
  precisionOf,
  precisionsOf,
  usableDeviceBytes
} from '../../core/latency/latencyEstimate';
import type {
  IGraphModel,
  IDeviceChoice,
  ILatencyEstimate
} from '../../core/types';
import {
  formatBytes,
  formatCount,
  formatExact,
  formatSeconds,
  UNKNOWN
} from '../../core/base/numberFormat';
import type { DeviceColumns, HardwarePart } from '../../schema';
import { missingReason } from './totalTiles';
import type { ITranslate } from '../i18n/translate';
import { ownValue } from '../../core/base/ownValue';

/** Devices of one vendor, by index. */
export interface IVendor {
  readonly vendor: string;
  readonly devices: readonly number[];
}

const wordsOf = (text: string): string[] =>
  text.toLowerCase().split(/\s+/).filter(Boolean);

/** Searchable text of a device. */
function textOf(columns: DeviceColumns, device: number): string {
  const { id, name, vendor, category } = columns;
  return [vendor, name, category, id]
    .map(column => column[device])
    .join(' ')
    .toLowerCase();
}

/** The best match: `t4` is the T4 rather than the T4000; -1 if there is none. */
export function bestMatch(
  columns: DeviceColumns,
  devices: readonly number[],
  query: string
): number {
  const words = wordsOf(query);
  const exact = devices.find(device => {
    const deviceWords = wordsOf(textOf(columns, device));
    return words.every(word => deviceWords.includes(word));
  });
  return exact ?? devices[0] ?? -1;
}

/** Devices whose name, vendor, kind or id contain all words, in their order, by vendor. */
export function foundDevices(columns: DeviceColumns, query: string): IVendor[] {
  const words = wordsOf(query);
  const vendors: { vendor: string; devices: number[] }[] = [];
  columns.id.forEach((_, device) => {
    const { vendor } = columns;
    const text = textOf(columns, device);
    if (!words.every(word => text.includes(word))) {
      return;
    }
    const last = vendors[vendors.length - 1];
    if (last?.vendor === vendor[device]) {
      last.devices.push(device);
    } else {
      vendors.push({ vendor: vendor[device], devices: [device] });
    }
  });
  return vendors;
}

const SPELLED: Readonly<Record<string, string>> = {
  amd: 'AMD',
  aws: 'AWS',
  nvidia: 'NVIDIA'
};

/** A vendor as a heading. */
export function vendorText(vendor: string, trans: ITranslate): string {
  return vendor === ''
    ? trans.__('Your own')
    : (ownValue(SPELLED, vendor) ?? vendor[0].toUpperCase() + vendor.slice(1));
}

/** Memory as advertised, in powers of two: `24 GiB`. */
export function memoryText(bytes: number | null): string {
  return bytes === null
    ? UNKNOWN
    : `${formatExact(round(bytes / 2 ** 30))} GiB`;
}

function round(value: number): number {
  return value < 10 ? Math.round(value * 10) / 10 : Math.round(value);
}

/** `165 TFLOP/s`. */
export function peakText(peak: number | null, precision: string): string {
  return peak === null
    ? UNKNOWN
    : formatCount(peak) + (precision === 'int8' ? 'OP/s' : 'FLOP/s');
}

/** A precision as displayed: `FP16`. */
export const precisionText = (precision: string): string =>
  precision.toUpperCase();

/** The device with the requested precision if it supports it, else as stored. */
export function choiceOf(
  hardware: HardwarePart,
  device: number,
  { precision = '', runtime = '' }: Partial<IDeviceChoice>
): IDeviceChoice {
  const isSupported = precisionsOf(hardware, device).includes(precision);
  return {
    device: hardware.devices.id[device],
    precision: isSupported ? precision : '',
    ...(runtime ? { runtime } : {})
  };
}

/** Why there is no latency although a device is chosen; empty if there is one, or no device. */
export function noTimeReason(
  { payload, latency }: IGraphModel,
  choice: IDeviceChoice | null,
  trans: ITranslate
): string {
  const hardware = hardwareOf(payload);
  if (!choice || !hardware || (latency && latency.seconds >= 0)) {
    return '';
  }
  if (latency) {
    return missingReason(payload, trans);
  }
  const device = deviceOf(hardware, choice.device);
  if (device < 0) {
    return trans.__('Unknown device “%1”.', choice.device);
  }
  const name = hardware.devices.name[device];
  return choice.precision
    ? trans.__(
        '%1 has no published %2 rate.',
        name,
        precisionText(choice.precision)
      )
    : trans.__(
        '%1 has no published rate for the model’s precision. Choose another precision.',
        name
      );
}

/** The precision that the device uses by default. */
export function storedPrecision(
  hardware: HardwarePart,
  device: number
): string {
  return precisionOf(hardware, device, '') ?? '';
}

/** `0.34–0.78 ms`; with both units if they differ. */
export function rangeText(low: number, high: number): string {
  const [from, to] = [formatSeconds(low), formatSeconds(high)];
  const unit = to.slice(to.search(/[^\d.]/));
  return `${from.endsWith(unit) ? from.slice(0, -unit.length) : from}–${to}`;
}

/** `≥ 1.28 ms` if kernels without a time are not included. */
export function leastText({ seconds, unknown }: ILatencyEstimate): string {
  return (unknown > 0 && seconds >= 0 ? '≥ ' : '') + formatSeconds(seconds);
}

/** The likely range; for an incomplete sum, that of the known kernels only. */
export function spanText(
  { low, high, unknown }: ILatencyEstimate,
  trans: ITranslate
): string {
  const range = rangeText(low, high);
  return unknown > 0 ? trans.__('%1 for the known kernels', range) : range;
}

/** Whether the required bytes fit into the usable ones; null if either is unknown. */
export function fitsIn(required: number, usable: number): boolean | null {
  return Number.isNaN(required + usable) ? null : required <= usable;
}

/** The device memory that the model needs, and whether it is available; empty if unknown. */
export function memoryNeed(
  { payload, latency }: IGraphModel,
  trans: ITranslate
): { readonly text: string; readonly fits: boolean } {
  const hardware = hardwareOf(payload);
  if (!hardware || !latency || Number.isNaN(latency.required)) {
    return { text: '', fits: true };
  }
  const usable = usableDeviceBytes(hardware, latency.device);
  const fits = !(latency.required > usable);
  const need = formatBytes(latency.required);
  const text = Number.isNaN(usable)
    ? trans.__('Needs about %1 of memory.', need)
    : fits
      ? trans.__('Needs about %1 of %2 of memory.', need, formatBytes(usable))
      : trans.__(
          'Does not fit: needs about %1, has %2.',
          need,
          formatBytes(usable)
        );
  return { text, fits };
}

/** `−35 % … +50 %`. */
export function bandText(
  hardware: HardwarePart,
  {
    device,
    precision,
    uncompared
  }: Pick<ILatencyEstimate, 'device' | 'precision' | 'uncompared'>
): string {
  const band = errorBandOf(hardware, device, precision, uncompared);
  const signed = (factor: number): string => {
    const percent = Math.round((factor - 1) * 100);
    return `${percent < 0 ? '−' : '+'}${Math.abs(percent)} %`;
  };
  // Large factors are shown as factors.
  return !band
    ? ''
    : band.high >= 2
      ? `×${band.low} … ×${band.high}`
      : `${signed(band.low)} … ${signed(band.high)}`;
}

/** `estimate`, `rough` or `order of magnitude`. */
export function labelText(
  { label }: Pick<ILatencyEstimate, 'label'>,
  trans: ITranslate
): string {
  const texts: Record<string, string> = {
    estimate: trans.__('estimate'),
    rough: trans.__('rough'),
    'order of magnitude': trans.__('order of magnitude')
  };
  return ownValue(texts, label) ?? label;
}
