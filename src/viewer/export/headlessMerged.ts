/** Draws two models as one graph, without a browser. */

import { mergePayloads } from '../../core/merge/mergePayloads';
import type { ComparisonColumns, GraphPayload } from '../../schema';
import { firstUnmatched, setMergedOverlay } from '../compare/mergedOverlay';
import { IDENTITY } from '../i18n/translate';
import { headlessSvg, type IHeadlessOptions } from './headless';

/** Like `headlessSvg`, with differences shown by colours and signs. */
export function mergedSvg(
  left: GraphPayload,
  right: GraphPayload,
  columns: ComparisonColumns,
  sheet: string,
  options: IHeadlessOptions
): Promise<string> {
  const name = `${left.model.name} → ${right.model.name}`;
  const merged = mergePayloads(left, right, columns, name);
  return headlessSvg(
    merged.payload,
    sheet,
    { ...options, overlay: 'changes', device: null, user: null },
    tree => {
      const { changeBits } = setMergedOverlay(tree, merged, IDENTITY);
      return firstUnmatched(tree, changeBits);
    }
  );
}
