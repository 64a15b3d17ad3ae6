/** Importance of entities when the main path through a level is chosen. */

import type { IGroupTree } from '../../tree/treeTypes';

/** Weights of a node with weights, a node that computes, and a node that only moves or reshapes data. */
const WEIGHTED = 9;
const COMPUTES = 1;
const MOVES = 0.25;

/** Importance by entity: a node's own, or the sum over a group's nodes. Constants do not count. */
export function computeImportance(tree: IGroupTree): Float64Array {
  const { model, groupCount, groupParent, nodeParent } = tree;
  const { nodeCount, nodeConstant, metrics } = model;
  const importance = new Float64Array(nodeCount + groupCount);
  for (let node = 0; node < nodeCount; node++) {
    if (nodeConstant[node]) {
      continue;
    }
    // Comparisons with NaN are false, so a node with unknown FLOPs counts as moving data.
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
