import { hardwareOf } from '../../core/latency/latencyEstimate';
import type { ITree } from '../../core/types';

/** `NVIDIA A100 40GB, FP16`; empty if no device is chosen. */
export function deviceLabel({ payload, latency }: ITree['model']): string {
  const devices = hardwareOf(payload)?.devices;
  return devices && latency
    ? [
        devices.name[latency.device],
        latency.precision.toUpperCase(),
        // The default runtime is not mentioned.
        ...(latency.part.runtime === hardwareOf(payload)?.runtime
          ? []
          : [latency.part.runtime_label])
      ].join(', ')
    : '';
}
