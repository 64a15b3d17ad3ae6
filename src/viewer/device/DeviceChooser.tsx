import * as React from 'react';
import {
  deviceOf,
  formatBytes,
  formatSeconds,
  hardwareOf,
  precisionsOf
} from '../../core';
import type { HardwarePart } from '../../schema';
import { useDocument, useSession, useTrans, useView } from '../context';
import { chooseDevice, setDevice } from '../session/device';
import { Icon } from '../ui/Icon';
import { visible } from '../ui/text';
import {
  bandText,
  choiceOf,
  foundDevices,
  labelText,
  memoryText,
  noTimeReason,
  peakText,
  precisionText,
  rangeText,
  storedPrecision,
  vendorText
} from './devices';
import { assumption } from './tile';

/** The list of devices, when it is open and there is one. */
export function DeviceChooser(): JSX.Element | null {
  const open = useView(state => state.choosing);
  const part = hardwareOf(useDocument().model.payload);
  return open && part ? <Chooser part={part} /> : null;
}

/** Closes by a click elsewhere; the focus goes back to where it was. */
function useClosing(frame: React.RefObject<HTMLElement>): () => void {
  const { store } = useSession();
  const close = React.useCallback(
    () => store.set({ choosing: false }),
    [store]
  );
  React.useEffect(() => {
    const before = document.activeElement;
    const outside = (event: PointerEvent): void => {
      const path = event.composedPath();
      // The chip closes the list by itself.
      const chip = path.some(
        part =>
          part instanceof Element && part.matches('.oad-Chip.oad-mod-device')
      );
      if (!chip && frame.current && !path.includes(frame.current)) {
        close();
      }
    };
    document.addEventListener('pointerdown', outside);
    return () => {
      document.removeEventListener('pointerdown', outside);
      if (before instanceof HTMLElement) {
        before.focus();
      }
    };
  }, [close, frame]);
  return close;
}

function Chooser({ part }: { part: HardwarePart }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const choice = useView(state => state.device);
  const [query, setQuery] = React.useState('');
  const chosen = deviceOf(part, choice?.device ?? '');
  const frame = React.useRef<HTMLDivElement>(null);
  const input = React.useRef<HTMLInputElement>(null);
  const close = useClosing(frame);
  React.useEffect(() => input.current?.focus(), []);
  const vendors = React.useMemo(
    () => foundDevices(part.devices, query),
    [part, query]
  );
  const flat = vendors.flatMap(({ devices }) => devices);
  const [at, setAt] = React.useState(chosen);
  const active = flat.includes(at) ? at : (flat[0] ?? -1);
  const pick = (device: number): void => {
    setAt(device);
    chooseDevice(session, choiceOf(part, device, choice?.precision ?? ''));
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    // The keys of the viewer do not work in here.
    event.stopPropagation();
    const list = event.target instanceof HTMLSelectElement ? [] : flat;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[
      event.key
    ];
    if (event.key === 'Escape') {
      close();
    } else if (step !== undefined && list.length > 0) {
      const next = list.indexOf(active) + step;
      setAt(list[Math.max(0, Math.min(list.length - 1, next))]);
    } else if (
      event.key === 'Enter' &&
      active >= 0 &&
      !(event.target instanceof HTMLButtonElement)
    ) {
      pick(active);
    } else {
      return;
    }
    event.preventDefault();
  };
  const id = React.useId();
  return (
    <div
      ref={frame}
      className="oad-Devices"
      role="dialog"
      aria-label={trans.__('Device')}
      onKeyDown={onKeyDown}
    >
      <div className="oad-Panel-head">
        <h3>{trans.__('Estimate the latency on')}</h3>
        <button
          type="button"
          className="oad-IconButton oad-mod-small"
          aria-label={trans.__('Close')}
          onClick={close}
        >
          <Icon name="close" size={14} />
        </button>
      </div>
      <div className="oad-Devices-tools">
        <input
          ref={input}
          className="oad-Input"
          type="text"
          role="combobox"
          spellCheck={false}
          value={query}
          placeholder={trans.__('Name, vendor, kind…')}
          aria-label={trans.__('Search devices')}
          aria-expanded={true}
          aria-controls={`${id}list`}
          aria-activedescendant={active >= 0 ? `${id}${active}` : undefined}
          onChange={event => setQuery(event.currentTarget.value)}
        />
        <PrecisionPicker part={part} device={chosen} />
        <button
          type="button"
          className="oad-Button"
          disabled={choice === null}
          onClick={() => setDevice(session, null)}
        >
          {trans.__('None')}
        </button>
      </div>
      <List
        part={part}
        vendors={vendors}
        precision={
          choice?.precision ||
          (chosen >= 0 ? storedPrecision(part, chosen) : '')
        }
        id={id}
        {...{ active, chosen, pick }}
      />
      <Outcome part={part} device={chosen} />
    </div>
  );
}

/** The precisions that the device has. */
function PrecisionPicker(props: {
  part: HardwarePart;
  device: number;
}): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { part, device } = props;
  const choice = useView(state => state.device);
  const stored = device >= 0 ? storedPrecision(part, device) : '';
  return (
    <select
      className="oad-Select"
      aria-label={trans.__('Precision')}
      disabled={device < 0}
      value={choice?.precision ?? ''}
      onChange={event =>
        setDevice(session, {
          device: part.devices.id[device],
          precision: event.currentTarget.value
        })
      }
    >
      <option value="">
        {stored
          ? trans.__('As stored: %1', precisionText(stored))
          : trans.__('As stored')}
      </option>
      {(device >= 0 ? precisionsOf(part, device) : []).map(precision => (
        <option key={precision} value={precision}>
          {precisionText(precision)}
        </option>
      ))}
    </select>
  );
}

interface IListProps {
  readonly part: HardwarePart;
  readonly vendors: ReturnType<typeof foundDevices>;
  /** Of the peaks that are shown; empty: what each device would take. */
  readonly precision: string;
  readonly id: string;
  readonly active: number;
  readonly chosen: number;
  pick(device: number): void;
}

function List(props: IListProps): JSX.Element {
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
            aria-label={visible(vendorText(vendor, trans))}
          >
            <div className="oad-Devices-vendor" aria-hidden="true">
              {visible(vendorText(vendor, trans))}
            </div>
            {devices.map(device => (
              <Option key={device} device={device} {...props} />
            ))}
          </div>
        ))}
        {vendors.length === 0 && (
          <p className="oad-Quiet">
            {trans.__('No device has all these words.')}
          </p>
        )}
      </div>
    </>
  );
}

function Option(props: IListProps & { device: number }): JSX.Element {
  const { part, device, active, chosen, id } = props;
  const { name, memory_bytes, bandwidth_bytes_per_s, peaks } = part.devices;
  const precision = props.precision || storedPrecision(part, device);
  const peak = peaks[precision]?.[device] ?? null;
  return (
    <div
      id={`${id}${device}`}
      role="option"
      aria-selected={device === chosen}
      data-active={device === active ? '' : undefined}
      className="oad-Devices-option"
      onClick={() => props.pick(device)}
    >
      <bdi>{visible(name[device])}</bdi>
      <span className="oad-Number">{memoryText(memory_bytes[device])}</span>
      <span className="oad-Number">{peakText(peak, precision)}</span>
      <span className="oad-Number">
        {formatBytes(bandwidth_bytes_per_s[device])}/s
      </span>
    </div>
  );
}

/** What the choice gives, how sure it is, and what it takes for granted. */
function Outcome(props: { part: HardwarePart; device: number }): JSX.Element {
  const trans = useTrans();
  const { part, device } = props;
  const { model } = useDocument();
  const choice = useView(state => state.device);
  const { latency } = model;
  const reason = noTimeReason(model, choice, trans);
  return (
    <div className="oad-Devices-outcome" role="status">
      {latency && (
        <p>
          <strong className="oad-Number">
            {formatSeconds(latency.seconds)}
          </strong>{' '}
          {trans.__(
            '(%1), at best %2',
            rangeText(latency.low, latency.high),
            formatSeconds(latency.ideal)
          )}
        </p>
      )}
      {reason && <p className="oad-mod-error">{reason}</p>}
      <p className="oad-Quiet">
        {assumption(trans)}{' '}
        {latency &&
          trans.__(
            'Band %1 (%2).',
            bandText(part, device),
            labelText(latency, trans)
          )}
      </p>
    </div>
  );
}
