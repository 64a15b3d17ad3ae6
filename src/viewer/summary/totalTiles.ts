/** The totals strip: the values, their texts, and reasons for missing ones. */

import {
  formatBytes,
  formatCount,
  formatExact,
  formatShare,
  UNKNOWN
} from '../../core/base/numberFormat';
import { cannotRun } from '../../core/model/runnable';
import { totalOf } from '../../core/model/modelTotals';
import type { GraphPayload } from '../../schema';
import {
  METRICS,
  SHOWN,
  type TotalMetric,
  type Unit
} from '../../schema/metrics';
import type { OverlayId } from '../overlays';
import type { ITranslate } from '../i18n/translate';

export interface ITile {
  readonly id: string;
  readonly label: string;
  /** Short, with unit. */
  readonly value: string;
  /** Additional text, smaller. */
  readonly note?: string;
  /** Exact value and its meaning. */
  readonly detail: string;
  readonly isKnown: boolean;
  /** The heatmap of the same metric. */
  readonly overlay: OverlayId | null;
}

/** Why a total is missing, in one sentence. */
export function missingReason(
  payload: GraphPayload,
  trans: ITranslate
): string {
  const impossible = cannotRun(payload);
  if (impossible) {
    return trans.__(
      'The model cannot run with these dimensions: %1.',
      impossible
    );
  }
  const free = payload.dims.filter(dim => dim.value === null);
  if (free.length > 0) {
    return trans.__(
      'Unknown: depends on %1. Set values in the Dimensions tab.',
      free.map(dim => dim.name).join(', ')
    );
  }
  const [reason] = topReasons(payload, 1);
  return reason
    ? trans.__('Unknown: %1.', reason)
    : trans.__('Unknown: it could not be computed for any node.');
}

/** The most common reasons for unknown costs, as `reason (n nodes)`. */
function topReasons(payload: GraphPayload, count: number): string[] {
  return Object.entries(payload.coverage.reasons)
    .sort((a, b) => b[1] - a[1])
    .slice(0, count)
    .map(([reason, nodes]) => `${reason} (${nodes})`);
}

/** A unit spelled out, where there is room. */
export function unitWord(unit: Unit, trans: ITranslate): string {
  return unit === 'bytes'
    ? trans.__('bytes')
    : unit === 'params'
      ? trans.__('parameters')
      : unit;
}

function totalTile(
  payload: GraphPayload,
  trans: ITranslate,
  id: TotalMetric
): ITile {
  const { label, unit, total } = METRICS[id];
  const { value, partial: isPartial, reason } = totalOf(payload, id);
  const isKnown = value !== null;
  const impossible = !isKnown && cannotRun(payload) !== '';
  const short = unit === 'bytes' ? formatBytes(value) : formatCount(value);
  const about = total?.about?.(trans) ?? '';
  const partial = trans.__(
    'Lower bound: nodes with unknown cost are not included.'
  );
  const lines = [
    formatExact(value, unitWord(unit, trans)),
    about,
    id === 'peak' ? withoutReuse(payload, trans) : '',
    isPartial ? partial : ''
  ];
  return {
    id,
    label: (total?.label ?? label)(trans),
    value: impossible
      ? trans.__('cannot run')
      : isKnown && isPartial
        ? `≥ ${short}`
        : short,
    detail: isKnown
      ? lines.filter(line => line).join('\n')
      : reason && !impossible
        ? trans.__('Unknown: %1.', reason)
        : missingReason(payload, trans),
    isKnown,
    overlay: total?.heatmap ?? null
  };
}

/** Whether an optional total has something to show; unknown is not 0. */
function mayAddWork(payload: GraphPayload, id: TotalMetric): boolean {
  return totalOf(payload, id).value !== 0 && !cannotRun(payload);
}

export function tilesOf(payload: GraphPayload, trans: ITranslate): ITile[] {
  return [
    ...SHOWN.strip
      .filter(id => !METRICS[id].total?.optional || mayAddWork(payload, id))
      .map(id => totalTile(payload, trans, id)),
    coverageTile(payload, trans)
  ];
}

function withoutReuse({ metrics }: GraphPayload, trans: ITranslate): string {
  const simple = metrics.peak_activation_bytes_simple;
  return simple === null
    ? ''
    : trans.__('Without buffer reuse: %1.', formatBytes(simple));
}

function coverageTile(payload: GraphPayload, trans: ITranslate): ITile {
  const { coverage } = payload;
  const unknown = Object.entries(coverage.unknown_ops)
    .map(([type, count]) => `${type} ×${count}`)
    .slice(0, 6);
  const lines = [
    trans.__(
      'Costs known for %1 of %2 nodes.',
      formatExact(coverage.nodes_known),
      formatExact(coverage.nodes_total)
    ),
    coverage.macs === null
      ? ''
      : trans.__(
          'MACs known for %1 of the nodes with MACs.',
          formatShare(coverage.macs)
        ),
    trans.__('Shapes known for %1 of tensors.', formatShare(coverage.shapes)),
    unknown.length > 0
      ? trans.__('No cost rule for: %1.', unknown.join(', '))
      : '',
    ...topReasons(payload, 4)
  ];
  const empty = coverage.nodes_total === 0;
  // A share of what does not depend on the sizes is not informative.
  const unsized =
    coverage.nodes_known < coverage.nodes_total &&
    payload.dims.some(dim => dim.value === null);
  return {
    id: 'coverage',
    label: trans.__('Coverage'),
    value: empty
      ? UNKNOWN
      : unsized
        ? trans.__('needs values')
        : formatShare(coverage.nodes),
    detail: lines.filter(line => line).join('\n'),
    isKnown: !empty && !unsized,
    overlay: null
  };
}
