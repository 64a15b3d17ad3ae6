/** The numbers of the strip: what they are, how they are written, why one is missing. */

import {
  formatBytes,
  formatCount,
  formatExact,
  formatShare,
  UNKNOWN
} from '../../core';
import { cannotRun } from '../../core/runnable';
import type { GraphPayload } from '../../schema';
import type { OverlayId } from '../overlays';
import type { ITranslate } from '../translate';

export interface ITile {
  readonly id: string;
  readonly label: string;
  /** Short, with unit. */
  readonly value: string;
  /** More about it, smaller. */
  readonly note?: string;
  /** Exact value and what it means. */
  readonly detail: string;
  readonly known: boolean;
  /** The heatmap of the same number. */
  readonly overlay: OverlayId | null;
}

/** Why a total is missing, in one sentence. */
export function missingReason(
  payload: GraphPayload,
  trans: ITranslate
): string {
  const impossible = cannotRun(payload);
  if (impossible) {
    return trans.__('The model cannot run with these sizes: %1.', impossible);
  }
  const free = payload.dims.filter(dim => dim.value === null);
  if (free.length > 0) {
    return trans.__(
      'Unknown: it depends on %1. Give values under Dimensions.',
      free.map(dim => dim.name).join(', ')
    );
  }
  const [reason] = topReasons(payload, 1);
  return reason
    ? trans.__('Unknown: %1.', reason)
    : trans.__('Unknown: no part of it could be computed.');
}

/** The commonest reasons for unknown costs, `reason (n nodes)`. */
function topReasons(payload: GraphPayload, count: number): string[] {
  return Object.entries(payload.coverage.reasons)
    .sort((a, b) => b[1] - a[1])
    .slice(0, count)
    .map(([reason, nodes]) => `${reason} (${nodes})`);
}

interface INumber {
  id: string;
  label: string;
  value: number | null;
  unit: string;
  overlay: OverlayId | null;
  about: string;
  /** True when unknown parts were left out of the sum. */
  partial: boolean;
  /** Why the value is null, where the payload says it. */
  reason?: string;
}

function numberTile(
  payload: GraphPayload,
  trans: ITranslate,
  n: INumber
): ITile {
  const known = n.value !== null;
  const impossible = !known && cannotRun(payload) !== '';
  const bytes = n.unit === 'B';
  const short = bytes ? formatBytes(n.value) : formatCount(n.value);
  const exact = formatExact(n.value, bytes ? trans.__('bytes') : n.unit);
  const partial = trans.__(
    'At least: parts without a known cost are left out.'
  );
  return {
    id: n.id,
    label: n.label,
    value: impossible
      ? trans.__('cannot run')
      : known && n.partial
        ? `≥ ${short}`
        : short,
    detail: known
      ? [exact, n.about, ...(n.partial ? [partial] : [])].join('\n')
      : n.reason && !impossible
        ? trans.__('Unknown: %1.', n.reason)
        : missingReason(payload, trans),
    known,
    overlay: n.overlay
  };
}

export function tilesOf(payload: GraphPayload, trans: ITranslate): ITile[] {
  const { metrics, coverage } = payload;
  const partial = coverage.nodes < 1;
  const macsPartial = coverage.macs !== null && coverage.macs < 1;
  const make = (n: INumber): ITile => numberTile(payload, trans, n);
  return [
    make({
      id: 'params',
      label: trans.__('Parameters'),
      value: metrics.total_params,
      unit: trans.__('parameters'),
      overlay: 'params',
      about: trans.__(
        'Elements of float or quantized weights; tied weights once.'
      ),
      partial: false,
      reason: metrics.params_reason
    }),
    make({
      id: 'macs',
      label: trans.__('MACs'),
      value: metrics.total_macs,
      unit: 'MACs',
      overlay: 'macs',
      about: trans.__('Multiply-accumulates of one inference.'),
      partial: macsPartial
    }),
    make({
      id: 'flops',
      label: trans.__('FLOPs'),
      value: metrics.total_flops,
      unit: 'FLOPs',
      overlay: 'flops',
      about: trans.__('2 per MAC, plus the arithmetic of the other operators.'),
      partial
    }),
    make({
      id: 'weight_bytes',
      label: trans.__('Weights'),
      value: metrics.weight_bytes,
      unit: 'B',
      overlay: 'weight_bytes',
      about: trans.__('Weights at their stored types.'),
      partial: false
    }),
    make({
      id: 'peak',
      label: trans.__('Peak activation'),
      value: metrics.peak_activation_bytes,
      unit: 'B',
      overlay: 'activation_bytes',
      about: peakText(payload, trans),
      partial: false,
      reason: metrics.peak_reason
    }),
    coverageTile(payload, trans)
  ];
}

function peakText(payload: GraphPayload, trans: ITranslate): string {
  const simple = payload.metrics.peak_activation_bytes_simple;
  const about = trans.__(
    'The most that tensors need at once, weights excluded, buffers reused.'
  );
  return simple === null
    ? about
    : `${about}\n${trans.__('Without reuse: %1.', formatBytes(simple))}`;
}

function coverageTile(payload: GraphPayload, trans: ITranslate): ITile {
  const { coverage } = payload;
  const unknown = Object.entries(coverage.unknown_ops)
    .map(([type, count]) => `${type} ×${count}`)
    .slice(0, 6);
  const lines = [
    trans.__(
      'Cost known for %1 of %2 nodes.',
      formatExact(coverage.nodes_known),
      formatExact(coverage.nodes_total)
    ),
    coverage.macs === null
      ? ''
      : trans.__(
          'MACs known for %1 of MAC-carrying nodes.',
          formatShare(coverage.macs)
        ),
    trans.__('Shapes known for %1 of tensors.', formatShare(coverage.shapes)),
    unknown.length > 0 ? trans.__('No rule for: %1.', unknown.join(', ')) : '',
    ...topReasons(payload, 4)
  ];
  const empty = coverage.nodes_total === 0;
  // A share of what does not depend on the sizes says nothing.
  const unsized =
    coverage.nodes_known < coverage.nodes_total &&
    payload.dims.some(dim => dim.value === null);
  return {
    id: 'coverage',
    label: trans.__('Coverage'),
    value: empty
      ? UNKNOWN
      : unsized
        ? trans.__('needs sizes')
        : formatShare(coverage.nodes),
    detail: lines.filter(line => line).join('\n'),
    known: !empty && !unsized,
    overlay: null
  };
}
