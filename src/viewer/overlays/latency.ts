import { hardwareOf } from '../../core/latency';
import type { ITree } from '../../core/types';
import { metricOf } from './metric';
import type { IOverlayDefinition } from './types';

/** `NVIDIA A100 40GB, FP16`; empty while no device is chosen. */
export function deviceLabel({ payload, latency }: ITree['model']): string {
  const devices = hardwareOf(payload)?.devices;
  return devices && latency
    ? `${devices.name[latency.device]}, ${latency.precision.toUpperCase()}`
    : '';
}

/** Estimated seconds on the chosen device; a kernel's time stands at the node that anchors it. */
export const latency: IOverlayDefinition<'latency'> = {
  id: 'latency',
  label: trans => trans.__('Latency'),
  about: ({ model }) => deviceLabel(model),
  unit: 's',
  available: ({ model }) => model.latency !== null,
  value: (tree, entity) => metricOf(tree, 'latency', entity)
};
