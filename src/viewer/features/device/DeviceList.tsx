import * as React from 'react';
import { formatBytes } from '../../../core';
import type { HardwarePart } from '../../../schema';
import { escapeInvisible } from '../../ui/safeText';
import {
  memoryText,
  peakText,
  precisionText,
  storedPrecision,
  vendorText,
  type IVendor
} from '../../summary/deviceText';
import { useTrans } from '../../i18n/translateContext';
import { ownValue } from '../../../core/base/ownValue';

interface IListProps {
  readonly hardware: HardwarePart;
  readonly vendors: readonly IVendor[];
  /** Precision of the peaks shown; empty for the one each device would use. */
  readonly precision: string;
  readonly id: string;
  readonly active: number;
  readonly chosenDevice: number;
  pick(device: number): void;
}

/** Devices by vendor, with their properties. */
export function DeviceList(props: IListProps): JSX.Element {
  const trans = useTrans();
  const { vendors, id, active, precision } = props;
  const list = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    const option = list.current?.querySelector('[data-active]');
    option?.scrollIntoView?.({ block: 'nearest' });
  }, [active]);
  return (
    <>
      <div className="oad-Devices-head" aria-hidden="true">
        <span />
        <span>{trans.__('Memory')}</span>
        <span>
          {precision
            ? trans.__('Peak %1', precisionText(precision))
            : trans.__('Peak')}
        </span>
        <span>{trans.__('Bandwidth')}</span>
      </div>
      <div
        ref={list}
        id={`${id}list`}
        className="oad-Devices-list"
        role="listbox"
        tabIndex={0}
        aria-label={trans.__('Devices')}
        aria-activedescendant={active >= 0 ? `${id}${active}` : undefined}
      >
        {vendors.map(({ vendor, devices }) => (
          <div
            key={vendor}
            role="group"
            aria-label={escapeInvisible(vendorText(vendor, trans))}
          >
            <div className="oad-Devices-vendor" aria-hidden="true">
              {escapeInvisible(vendorText(vendor, trans))}
            </div>
            {devices.map(device => (
              <Option key={device} device={device} {...props} />
            ))}
          </div>
        ))}
        {vendors.length === 0 && (
          <p className="oad-Quiet">{trans.__('No matching devices.')}</p>
        )}
      </div>
    </>
  );
}

function Option(props: IListProps & { device: number }): JSX.Element {
  const { hardware, device, active, chosenDevice, id } = props;
  const { name, memory_bytes, bandwidth_bytes_per_s, peaks } = hardware.devices;
  const precision = props.precision || storedPrecision(hardware, device);
  const peak = ownValue(peaks, precision)?.[device] ?? null;
  return (
    <div
      id={`${id}${device}`}
      role="option"
      aria-selected={device === chosenDevice}
      data-active={device === active ? '' : undefined}
      className="oad-Devices-option"
      onClick={() => props.pick(device)}
    >
      <bdi>{escapeInvisible(name[device])}</bdi>
      <span className="oad-Number">{memoryText(memory_bytes[device])}</span>
      <span className="oad-Number">{peakText(peak, precision)}</span>
      <span className="oad-Number">
        {formatBytes(bandwidth_bytes_per_s[device])}/s
      </span>
    </div>
  );
}
