/** The evidence of a finding as text; names carry the unit. */

import { formatBytes, formatCount, formatExact, formatShare } from '../../core';
import type { RiskSignal } from '../../schema';
import type { ITranslate } from '../i18n/translate';
import { shortLabel } from '../ui/safeText';

/** Longer lists are truncated. */
const MAX_LISTED = 12;

/** Nodes of the finding that exist in the model. */
export function nodesIn(item: RiskSignal, nodeCount: number): number[] {
  return item.nodes.filter(
    node => Number.isInteger(node) && node >= 0 && node < nodeCount
  );
}

/** Number of affected nodes, including those not listed. */
export function totalNodes(item: RiskSignal): number {
  const total: unknown = item.evidence.nodes_total;
  return typeof total === 'number' && total > item.nodes.length
    ? total
    : item.nodes.length;
}

function numberText(name: string, value: number): string {
  if (/(^|_)bytes($|_)/.test(name)) {
    return `${formatBytes(value)} (${formatExact(value)})`;
  }
  if (
    /(^|_)(share|ratio|fraction)($|_)/.test(name) &&
    value >= 0 &&
    value <= 1
  ) {
    return formatShare(value);
  }
  return Number.isInteger(value) && Math.abs(value) >= 1e6
    ? `${formatCount(value)} (${formatExact(value)})`
    : formatExact(value);
}

/** A value of the evidence; `name` determines its unit. */
export function evidenceText(
  name: string,
  value: unknown,
  trans: ITranslate
): string {
  if (typeof value === 'number') {
    return numberText(name, value);
  }
  if (typeof value === 'boolean') {
    return value ? trans.__('yes') : trans.__('no');
  }
  if (value === null || value === undefined) {
    return trans.__('unknown');
  }
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    const texts = items
      .slice(0, MAX_LISTED)
      .map(item => evidenceText(name, item, trans));
    const hiddenCount = items.length - texts.length;
    return [
      ...texts,
      ...(hiddenCount > 0 ? [trans.__('%1 more…', hiddenCount)] : [])
    ].join(', ');
  }
  return shortLabel(
    typeof value === 'string' ? value : JSON.stringify(value),
    500
  );
}
