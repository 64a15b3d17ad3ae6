/** A picture of two models as one graph, without a page. */

import { merged } from '../../core/merged';
import type { ComparisonColumns, GraphPayload } from '../../schema';
import { firstLone, paintMerged } from '../compare/mergedPaint';
import { IDENTITY } from '../translate';
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
  const made = merged(left, right, columns, name);
  return headlessSvg(
    made.payload,
    sheet,
    { ...options, overlay: 'changes', device: null, user: null },
    tree => {
      const { fate } = paintMerged(tree, made, IDENTITY);
      return firstLone(tree, fate);
    }
  );
}
