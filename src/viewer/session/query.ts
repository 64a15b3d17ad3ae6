/** The numeric part of a search: `macs>1e9`, `params>=10K`, `activation<1MB`. */

import type { ITree, MetricId } from '../../core/types';
import { metricOf } from '../overlays/metric';

const NAMES: ReadonlyMap<string, MetricId> = new Map([
  ['macs', 'macs'],
  ['flops', 'flops'],
  ['params', 'params'],
  ['weights', 'weight_bytes'],
  ['weight_bytes', 'weight_bytes'],
  ['activation', 'activation_bytes'],
  ['activation_bytes', 'activation_bytes'],
  ['read', 'read_bytes'],
  ['write', 'write_bytes']
]);

const PREFIX: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  m: 1e6,
  g: 1e9,
  t: 1e12
};

const TERM =
  /^([a-z_]+)(>=|<=|>|<|=)(\d+(?:\.\d+)?(?:e\+?\d{1,2})?)([kmgt]?)b?$/;

/** A bound on a metric. Unknown numbers satisfy none. */
export interface IBound {
  readonly metric: MetricId;
  readonly relation: string;
  readonly limit: number;
}

/** Splits a query into its bounds and the rest, which is searched as words. */
export function splitQuery(query: string): {
  readonly words: string;
  readonly bounds: readonly IBound[];
} {
  const bounds: IBound[] = [];
  const words = query.split(/\s+/).filter(word => {
    const match = TERM.exec(word.toLowerCase());
    const metric = match ? NAMES.get(match[1]) : undefined;
    if (!match || !metric) {
      return true;
    }
    const limit = Number(match[3]) * PREFIX[match[4]];
    bounds.push({ metric, relation: match[2], limit });
    return false;
  });
  return { words: words.join(' '), bounds };
}

export function satisfies(
  tree: ITree,
  entity: number,
  { metric, relation, limit }: IBound
): boolean {
  const value = metricOf(tree, metric, entity);
  switch (relation) {
    case '>':
      return value > limit;
    case '>=':
      return value >= limit;
    case '<':
      return value < limit;
    case '<=':
      return value <= limit;
    default:
      return value === limit;
  }
}
