/** Card sizes for tests and benchmarks, without measuring text. */

import type { IGraphModel, ISizer, ITree } from '../types';

const PER_CHARACTER = 7;

/** Cards as wide as their texts at 7 px per character. */
export function plainSizer(model: IGraphModel, tree: ITree): ISizer {
  return {
    node: node => ({
      w: Math.max(48, model.opType(node).length * PER_CHARACTER + 20),
      h: model.metrics.params[node] > 0 ? 46 : 28
    }),
    group: group => ({
      w: Math.max(90, tree.groupLabel[group].length * PER_CHARACTER + 44),
      h: 52
    }),
    title: group => tree.groupLabel[group].length * PER_CHARACTER + 36,
    pill: text => ({ w: Math.max(30, text.length * 6 + 18), h: 22 })
  };
}
