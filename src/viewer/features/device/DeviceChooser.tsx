import * as React from 'react';
import {
  deviceOf,
  formatSeconds,
  hardwareOf,
  precisionsOf
} from '../../../core';
import { partOf } from '../../../core/latency/latencyEstimate';
import type { HardwarePart } from '../../../schema';
import { useDocument, useSession, useView } from '../../session/sessionContext';
import {
  chooseDevice,
  initialRuntime,
  setDevice
} from '../../session/deviceActions';
import { Icon } from '../../ui/Icon';
import { DeviceList } from './DeviceList';
import {
  bandText,
  choiceOf,
  foundDevices,
  labelText,
  leastText,
  bestMatch,
  memoryNeed,
  noTimeReason,
  precisionText,
  spanText,
  storedPrecision
} from '../../summary/deviceText';
import { assumption } from '../../summary/latencyTile';
import { focusedElement } from '../../ui/focus';
import { useTrans } from '../../i18n/translateContext';
import { ownValue } from '../../../core/base/ownValue';

/** The list of devices, if it is open and not empty. */
export function DeviceChooser(): JSX.Element | null {
  const open = useView(state => state.deviceChooserOpen);
  const hardware = hardwareOf(useDocument().model.payload);
  return open && hardware ? <Chooser hardware={hardware} /> : null;
}

/** Closes on a click elsewhere and restores the focus. */
function useCloseOnOutsideClick(
  frame: React.RefObject<HTMLElement>
): () => void {
  const { store } = useSession();
  const close = React.useCallback(
    () => store.set({ deviceChooserOpen: false }),
    [store]
  );
  React.useEffect(() => {
    const before = focusedElement();
    const outside = (event: PointerEvent): void => {
      const path = event.composedPath();
      // The chip closes the list itself.
      const chip = path.some(
        target =>
          target instanceof Element &&
          target.matches('.oad-Chip.oad-mod-device')
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

function Chooser({ hardware }: { hardware: HardwarePart }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const choice = useView(state => state.device);
  const [query, setQuery] = React.useState('');
  const chosenDevice = deviceOf(hardware, choice?.device ?? '');
  const frame = React.useRef<HTMLDivElement>(null);
  const input = React.useRef<HTMLInputElement>(null);
  const close = useCloseOnOutsideClick(frame);
  React.useEffect(() => input.current?.focus(), []);
  const vendors = React.useMemo(
    () => foundDevices(hardware.devices, query),
    [hardware, query]
  );
  const flat = vendors.flatMap(({ devices }) => devices);
  const [index, setIndex] = React.useState(chosenDevice);
  const active = flat.includes(index)
    ? index
    : bestMatch(hardware.devices, flat, query);
  const pick = (device: number): void => {
    setIndex(device);
    chooseDevice(
      session,
      choiceOf(
        hardware,
        device,
        choice ?? initialRuntime(session.settings, hardware)
      )
    );
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    // The viewer's keys do not apply here.
    event.stopPropagation();
    const list = event.target instanceof HTMLSelectElement ? [] : flat;
    const step = ownValue(
      { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 },
      event.key
    );
    if (event.key === 'Escape') {
      close();
    } else if (step !== undefined && list.length > 0) {
      const next = list.indexOf(active) + step;
      setIndex(list[Math.max(0, Math.min(list.length - 1, next))]);
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
        <PrecisionPicker hardware={hardware} device={chosenDevice} />
        <RuntimePicker hardware={hardware} device={chosenDevice} />
        <button
          type="button"
          className="oad-Button"
          disabled={choice === null}
          onClick={() => setDevice(session, null)}
        >
          {trans.__('None')}
        </button>
      </div>
      <DeviceList
        hardware={hardware}
        vendors={vendors}
        precision={
          choice?.precision ||
          (chosenDevice >= 0 ? storedPrecision(hardware, chosenDevice) : '')
        }
        id={id}
        {...{ active, chosenDevice, pick }}
      />
      <Outcome />
    </div>
  );
}

/** Picker for the device's precisions. */
function PrecisionPicker(props: {
  hardware: HardwarePart;
  device: number;
}): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { hardware, device } = props;
  const choice = useView(state => state.device);
  const stored = device >= 0 ? storedPrecision(hardware, device) : '';
  return (
    <select
      className="oad-Select"
      aria-label={trans.__('Precision')}
      disabled={device < 0}
      value={choice?.precision ?? ''}
      onChange={event =>
        setDevice(session, {
          ...choice,
          device: hardware.devices.id[device],
          precision: event.currentTarget.value
        })
      }
    >
      <option value="">
        {stored
          ? trans.__('As stored: %1', precisionText(stored))
          : trans.__('As stored')}
      </option>
      {(device >= 0 ? precisionsOf(hardware, device) : []).map(precision => (
        <option key={precision} value={precision}>
          {precisionText(precision)}
        </option>
      ))}
    </select>
  );
}

/** Picker for the runtime. */
function RuntimePicker(props: {
  hardware: HardwarePart;
  device: number;
}): JSX.Element | null {
  const trans = useTrans();
  const session = useSession();
  const { hardware, device } = props;
  const choice = useView(state => state.device);
  const usual = partOf(hardware, device);
  const own = { id: hardware.runtime, label: hardware.runtime_label };
  const runtimes = [own, ...(hardware.runtimes ?? [])].filter(
    ({ id }) => id !== usual.runtime
  );
  return (hardware.runtimes ?? []).length === 0 ? null : (
    <select
      className="oad-Select"
      aria-label={trans.__('Runtime')}
      disabled={device < 0}
      value={choice?.runtime ?? ''}
      onChange={event => {
        const { device: id = '', precision = '' } = choice ?? {};
        const runtime = event.currentTarget.value;
        setDevice(session, {
          device: id,
          precision,
          ...(runtime ? { runtime } : {})
        });
      }}
    >
      <option value="">{usual.runtime_label ?? ''}</option>
      {runtimes.map(({ id, label }) => (
        <option key={id} value={id}>
          {label}
        </option>
      ))}
    </select>
  );
}

/** Latency for the current choice, its quality and its assumptions. */
function Outcome(): JSX.Element {
  const trans = useTrans();
  const { model } = useDocument();
  const choice = useView(state => state.device);
  const { latency } = model;
  const reason = noTimeReason(model, choice, trans);
  const need = memoryNeed(model, trans);
  return (
    <div className="oad-Devices-outcome" role="status">
      {latency && latency.seconds >= 0 && (
        <p>
          <strong className="oad-Number">{leastText(latency)}</strong>{' '}
          {trans.__(
            '(%1), best case %2',
            spanText(latency, trans),
            formatSeconds(latency.ideal)
          )}
        </p>
      )}
      {reason && <p className="oad-mod-error">{reason}</p>}
      {need.text && (
        <p className={need.fits ? 'oad-Quiet' : 'oad-mod-error'}>{need.text}</p>
      )}
      <p className="oad-Quiet">
        {assumption(trans, latency)}{' '}
        {latency &&
          trans.__(
            'Uncertainty: %1 (%2).',
            bandText(latency.part, latency),
            labelText(latency, trans)
          )}
      </p>
    </div>
  );
}
