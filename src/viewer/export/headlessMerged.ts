/** A picture of two models as one graph, without a page. */

import { mergePayloads } from '../../core/merge/mergePayloads';
import type { ComparisonColumns, GraphPayload } from '../../schema';
import { firstUnmatched, setMergedOverlay } from '../compare/mergedOverlay';
import { IDENTITY } from '../i18n/translate';
import { headlessSvg, type IHeadlessOptions } from './headless';

/** As `headlessSvg`, with what differs in colours and signs. */
export function mergedSvg(
  left: GraphPayload,
  right: GraphPayload,
  columns: ComparisonColumns,
  sheet: string,
  options: IHeadlessOptions
): Promise<string> {
  const name = `${left.model.name} → ${right.model.name}`;
  const made = mergePayloads(left, right, columns, name);
  return headlessSvg(
    made.payload,
    sheet,
    { ...options, overlay: 'changes', device: null, user: null },
    tree => {
      const { fate } = setMergedOverlay(tree, made, IDENTITY);
      return firstUnmatched(tree, fate);
    }
  );
}
