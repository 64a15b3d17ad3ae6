/** How much things matter when the main path through a level is chosen. */

import type { IGroupTree } from '../../tree/treeTypes';

/** A node with weights, one that computes, and one that only moves or shapes data. */
const WEIGHTED = 9;
const COMPUTES = 1;
const MOVES = 0.25;

/** By entity: of a node its own, of a group the sum of its nodes. Constants do not count. */
export function computeImportance(tree: IGroupTree): Float64Array {
  const { model, groupCount, groupParent, nodeParent } = tree;
  const { nodeCount, nodeConstant, metrics } = model;
  const importance = new Float64Array(nodeCount + groupCount);
  for (let node = 0; node < nodeCount; node++) {
    if (nodeConstant[node]) {
      continue;
    }
    // Unknown numbers compare as false: such a node counts as moving data.
    const computes = metrics.flops[node] > 0 ? COMPUTES : MOVES;
    importance[node] = metrics.params[node] > 0 ? WEIGHTED : computes;
    if (nodeParent[node] >= 0) {
      importance[nodeCount + nodeParent[node]] += importance[node];
    }
  }
  // Parents come before their children.
  for (let group = groupCount - 1; group >= 0; group--) {
    if (groupParent[group] >= 0) {
      importance[nodeCount + groupParent[group]] +=
        importance[nodeCount + group];
    }
  }
  return importance;
}
