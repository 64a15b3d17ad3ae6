import { formatCount } from '../../core/base/numberFormat';
import type { GraphPayload } from '../../schema';
import type { ITranslate } from '../i18n/translate';

/** One line about a model: `122 nodes · 25.6 M params · 4.09 G MACs`. */
export function modelSummaryLine(
  payload: GraphPayload,
  trans: ITranslate
): string {
  const { graph, metrics } = payload;
  return [
    trans._n('%1 node', '%1 nodes', graph.num_nodes),
    trans.__('%1 params', formatCount(metrics.total_params)),
    trans.__('%1 MACs', formatCount(metrics.total_macs))
  ].join(' · ');
}
