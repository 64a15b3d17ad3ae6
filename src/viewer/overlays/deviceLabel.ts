import { hardwareOf, partOf } from '../../core/latency/latencyEstimate';
import type { ITree } from '../../core/types';

/** `NVIDIA A100 40GB, FP16`; empty if no device is chosen. */
export function deviceLabel({ payload, latency }: ITree['model']): string {
  const hardware = hardwareOf(payload);
  return hardware && latency
    ? [
        hardware.devices.name[latency.device],
        latency.precision.toUpperCase(),
        // The usual runtime is not mentioned.
        ...(latency.part.runtime === partOf(hardware, latency.device).runtime
          ? []
          : [latency.part.runtime_label])
      ].join(', ')
    : '';
}
