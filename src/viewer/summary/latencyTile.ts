/** The latency in the totals strip. */

import { hardwareOf, isFusing } from '../../core/latency/latencyEstimate';
import { KERNEL } from '../../core/latency/kernelTime';
import { cannotRun } from '../../core/model/runnable';
import type { IGraphModel, IDeviceChoice } from '../../core/types';
import { formatSeconds, UNKNOWN } from '../../core/base/numberFormat';
import type { ITile } from './totalTiles';
import { METRICS } from '../../schema/metrics';
import { deviceLabel } from '../overlays/deviceLabel';
import type { ITranslate } from '../i18n/translate';
import {
  labelText,
  leastText,
  memoryNeed,
  noTimeReason,
  spanText
} from './deviceText';

/** Assumptions of an estimate, in one sentence. */
export function assumption(
  trans: ITranslate,
  latency: IGraphModel['latency'] = null
): string {
  const { runtime, runtime_label = '' } = latency?.part ?? {};
  return isFusing(runtime)
    ? trans.__('Assumes a fusing runtime (TensorRT class).')
    : trans.__('Runtime assumed: %1.', runtime_label);
}

/** Assumptions about sizes known only at run time; empty if there are none. */
function routingAssumption(
  { latency, payload }: IGraphModel,
  trans: ITranslate
): string {
  const kernels = (latency?.part ?? hardwareOf(payload))?.kernels;
  const isRouted =
    (kernels?.routed ?? []).length > 0 ||
    kernels?.kind.includes(KERNEL.experts);
  return isRouted
    ? trans.__('Assumes that tokens are spread evenly over the experts.')
    : '';
}

/** The estimate with its likely range, bound and quality; null if no device is chosen. */
export function latencyTile(
  model: IGraphModel,
  choice: IDeviceChoice | null,
  trans: ITranslate
): ITile | null {
  const { latency } = model;
  if (!hardwareOf(model.payload) || (!latency && !choice)) {
    return null;
  }
  const tile = {
    id: 'latency',
    label: METRICS.latency.label(trans),
    overlay: latency ? ('latency' as const) : null
  };
  if (!latency || Number.isNaN(latency.seconds)) {
    const detail = noTimeReason(model, choice, trans);
    const value = cannotRun(model.payload) ? trans.__('cannot run') : UNKNOWN;
    return { ...tile, value, detail, isKnown: false };
  }
  const { ideal, unknown } = latency;
  const value = leastText(latency);
  const span = spanText(latency, trans);
  const need = memoryNeed(model, trans);
  const best = formatSeconds(ideal);
  const lines = [
    trans.__('%1 on %2; likely range %3.', value, deviceLabel(model), span),
    trans.__('At peak compute and full bandwidth: %1.', best),
    assumption(trans, latency),
    routingAssumption(model, trans),
    unknown > 0
      ? trans._n(
          'Lower bound: %1 kernel with an unknown time is not included.',
          'Lower bound: %1 kernels with unknown times are not included.',
          unknown
        )
      : '',
    need.text
  ];
  return {
    ...tile,
    label: trans.__('Latency, %1', labelText(latency, trans)),
    value,
    note: need.fits ? trans.__('%1 · best case %2', span, best) : need.text,
    detail: lines.filter(line => line).join('\n'),
    isKnown: true
  };
}
