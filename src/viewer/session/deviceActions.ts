/** The device for latency estimates: set by the user, a link, the host or the file. */

import {
  chosenDevice,
  deviceOf,
  hardwareOf,
  withLatency
} from '../../core/latency/latencyEstimate';
import { withModel } from '../../core/tree/groupTree';
import type { GraphPayload, HardwarePart } from '../../schema';
import type { IViewerSettings } from '../state/api';
import { setUserValues, type OverlayId } from '../overlays';
import type { IDocument } from '../state/types';
import { refreshMatches } from './searchActions';
import type { ISession } from './types';
import type { IDeviceChoice } from '../../core/types';

/** The initial device of a model's view: the analysis's own, else that of the settings. */
export function initialDevice(
  settings: Pick<IViewerSettings, 'device' | 'precision' | 'runtime'>,
  payload: GraphPayload
): IDeviceChoice | null {
  const hardware = hardwareOf(payload);
  const { device, precision } = settings;
  return (
    chosenDevice(payload) ??
    (hardware && deviceOf(hardware, device) >= 0
      ? { device, precision, ...initialRuntime(settings, hardware) }
      : null)
  );
}

/** The runtime of the settings, if the model has estimates for it in addition to its own. */
export function initialRuntime(
  { runtime }: Pick<IViewerSettings, 'runtime'>,
  hardware: HardwarePart
): Pick<IDeviceChoice, 'runtime'> {
  return (hardware.runtimes ?? []).some(({ id }) => id === runtime)
    ? { runtime }
    : {};
}

export function sameDevice(
  a: IDeviceChoice | null,
  b: IDeviceChoice | null
): boolean {
  return (
    a?.device === b?.device &&
    a?.precision === b?.precision &&
    (a?.runtime ?? '') === (b?.runtime ?? '')
  );
}

/** Sets another device, or none: all times are updated, the graph stays as it is. */
export function setDevice(
  session: ISession,
  device: IDeviceChoice | null
): void {
  const { document, overlay, brush } = session.store.get();
  const painted = overlay === 'latency';
  const change = {
    device,
    overlay: painted && device === null ? null : overlay,
    // Its ends were times of the other device.
    brush: painted ? null : brush
  };
  if (!document) {
    session.store.set(change);
    return;
  }
  const model = withLatency(document.model, device);
  const tree = withModel(document.tree, model);
  setUserValues(tree, session.userValues);
  const next: IDocument = { model, tree };
  void session.graph.updateNumbers(next);
  session.store.set({ ...change, document: next });
  refreshMatches(session);
}

/** Sets the overlay, or none. Latency needs a device first. */
export function setOverlay(session: ISession, overlay: OverlayId | null): void {
  const { document } = session.store.get();
  if (overlay !== 'latency' || document?.model.latency) {
    session.store.set({ overlay });
  } else if (document && hardwareOf(document.model.payload)) {
    session.store.set({ deviceChooserOpen: true });
  }
}

/** Set by the user: the first device chosen also becomes the heatmap. */
export function chooseDevice(
  session: ISession,
  device: IDeviceChoice | null
): void {
  const first = session.store.get().device === null && device !== null;
  setDevice(session, device);
  if (first && session.store.get().document?.model.latency) {
    session.store.set({ overlay: 'latency' });
  }
}
