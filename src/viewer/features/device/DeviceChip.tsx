import * as React from 'react';
import { hardwareOf } from '../../../core/latency/latencyEstimate';
import { usableDeviceBytes } from '../../../core/latency/latencyEstimate';
import { useDocument, useSession, useView } from '../../session/sessionContext';
import { deviceLabel } from '../../overlays/deviceLabel';
import { Icon } from '../../ui/Icon';
import { escapeInvisible } from '../../ui/safeText';
import { fitsIn, memoryNeed, noTimeReason } from '../../summary/deviceText';
import { Fits } from './Fits';
import { useTrans } from '../../i18n/translateContext';

/** Shows the device of latency estimates; opens the list of devices. */
export function DeviceChip(): JSX.Element | null {
  const trans = useTrans();
  const { store } = useSession();
  const { model } = useDocument();
  const choice = useView(state => state.device);
  const open = useView(state => state.deviceChooserOpen);
  const hardware = hardwareOf(model.payload);
  if (!hardware) {
    return null;
  }
  const label = deviceLabel(model) || choice?.device;
  const reason = noTimeReason(model, choice, trans);
  const { latency } = model;
  const fits =
    latency &&
    fitsIn(latency.required, usableDeviceBytes(hardware, latency.device));
  return (
    <button
      type="button"
      className={`oad-Chip oad-mod-device${reason ? ' oad-mod-assumed' : ''}`}
      aria-haspopup="dialog"
      aria-expanded={open}
      title={reason || trans.__('Device for latency estimates')}
      onClick={() => store.set({ deviceChooserOpen: !open })}
    >
      <Icon name="device" size={14} />
      <span>
        {label
          ? escapeInvisible(label)
          : trans.__('Latency (choose a device…)')}
      </span>
      {fits !== null && (
        <Fits fits={fits} title={memoryNeed(model, trans).text} />
      )}
    </button>
  );
}
