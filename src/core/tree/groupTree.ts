/** The tree of boxes: groups, their nodes, their totals, and the reads of each tensor. */

import { chipsByHost } from './chips';
import { groupBy, IntList } from '../base/csr';
import type { ICsrRows } from '../base/csr';
import {
  collectGroups,
  PREPARATION_ORIGIN,
  trimGroups
} from './groupCandidates';
import type { IRawGroups } from './groupCandidates';
import { METRIC_IDS } from '../model/decodePayload';
import { inputPillGroups, outputPillGroups } from './pillPlacement';
import { findSeries } from './tensorSeries';
import {
  collectReads,
  computesAlone,
  computeReadRange,
  orderByFirstUse
} from './nodeReads';
import { sumColumns } from '../model/metricSums';
import type { IGraphModel, MetricId } from '../types';
import type { IGroupTree } from './treeTypes';

/** Origin of boxes around the instances of a repeat. */
const REPEAT_ORIGIN = 'repeat';

interface INumbering {
  count: number;
  /** Raw id of each group. */
  rawOf: Int32Array;
  parent: Int32Array;
  depth: Int32Array;
  nodeParent: Int32Array;
  children: Int32Array[];
}

/** Children of every raw group (row 0 is the root), ordered by first use. */
function orderedChildren(
  model: IGraphModel,
  raw: IRawGroups,
  closest: Int32Array
): ICsrRows {
  const rows = new IntList();
  const entities = new IntList();
  const visited = new Uint8Array(raw.parent.length);
  for (const node of orderByFirstUse(model)) {
    if (model.nodeConstant[node]) {
      continue;
    }
    let group = raw.nodeGroup[node] >= 0 ? closest[raw.nodeGroup[node]] : -1;
    rows.push(group + 1);
    entities.push(node);
    while (group >= 0 && !visited[group]) {
      visited[group] = 1;
      const above = raw.parent[group];
      const parent = above >= 0 ? closest[above] : -1;
      rows.push(parent + 1);
      entities.push(model.nodeCount + group);
      group = parent;
    }
  }
  return groupBy(raw.parent.length + 1, rows.toArray(), entities.toArray());
}

/** Numbers the groups in pre-order and rewrites the children with the final ids. */
function numberGroups(
  model: IGraphModel,
  raw: IRawGroups,
  closest: Int32Array
): INumbering {
  const { nodeCount } = model;
  const rows = orderedChildren(model, raw, closest);
  const groupCount = closest.filter((c, i) => c === i).length;
  const rawOf = new Int32Array(groupCount);
  const parent = new Int32Array(groupCount).fill(-1);
  const depth = new Int32Array(groupCount);
  const nodeParent = new Int32Array(nodeCount).fill(-1);
  const children: Int32Array[] = new Array<Int32Array>(groupCount + 1);
  const open = [-1];
  let count = 0;
  const rowOf = (group: number) => (group < 0 ? 0 : rawOf[group] + 1);
  const cursor = [0];
  children[0] = rows.values.slice(rows.offsets[0], rows.offsets[1]);
  while (open.length > 0) {
    const group = open[open.length - 1];
    const list = children[group + 1];
    const position = cursor[cursor.length - 1]++;
    if (position >= list.length) {
      open.pop();
      cursor.pop();
      continue;
    }
    const entity = list[position];
    if (entity < nodeCount) {
      nodeParent[entity] = group;
      continue;
    }
    const id = count++;
    rawOf[id] = entity - nodeCount;
    parent[id] = group;
    depth[id] = open.length - 1;
    list[position] = nodeCount + id;
    const row = rowOf(id);
    children[id + 1] = rows.values.slice(
      rows.offsets[row],
      rows.offsets[row + 1]
    );
    open.push(id);
    cursor.push(0);
  }
  return { count, rawOf, parent, depth, nodeParent, children };
}

/** Pre-order positions of nodes, and the range of every group. */
function computeRanges(model: IGraphModel, numbering: INumbering) {
  const { nodeCount } = model;
  const { count, children } = numbering;
  const size = new Int32Array(count);
  for (let group = count - 1; group >= 0; group--) {
    for (const entity of children[group + 1]) {
      size[group] += entity < nodeCount ? 1 : size[entity - nodeCount];
    }
  }
  const start = new Int32Array(count);
  const position = new Int32Array(nodeCount).fill(-1);
  // With pre-order ids no recursion is needed: a group's start is known once its parent is done.
  let total = 0;
  const assignPositions = (list: Int32Array, first: number) => {
    let next = first;
    for (const entity of list) {
      if (entity < nodeCount) {
        position[entity] = next++;
      } else {
        start[entity - nodeCount] = next;
        next += size[entity - nodeCount];
      }
    }
    total = Math.max(total, next);
  };
  assignPositions(children[0], 0);
  for (let group = 0; group < count; group++) {
    assignPositions(children[group + 1], start[group]);
  }
  const nodeOrder = new Int32Array(total);
  for (let node = 0; node < nodeCount; node++) {
    if (position[node] >= 0) {
      nodeOrder[position[node]] = node;
    }
  }
  const end = start.map((first, group) => first + size[group]);
  return { nodeOrder, nodePosition: position, start, end, size };
}

/** Sums of every metric over the nodes below each group, and their number of unknown values. */
function aggregate(
  model: IGraphModel,
  numbering: Pick<INumbering, 'count' | 'parent' | 'nodeParent'>
) {
  const { count, parent, nodeParent } = numbering;
  const drawnNodes = model.nodeConstant.reduce<number[]>(
    (nodes, hidden, node) => {
      if (!hidden) {
        nodes.push(node);
      }
      return nodes;
    },
    []
  );
  const tree = { groupCount: count, groupParent: parent, nodeParent };
  const sums = {} as Record<MetricId, Float64Array>;
  const unknown = {} as Record<MetricId, Int32Array>;
  for (const id of METRIC_IDS) {
    const columns = sumColumns(model, id, drawnNodes, tree);
    sums[id] = columns.sum.subarray(1);
    unknown[id] = columns.unknown.subarray(1);
  }
  return { sums, unknown };
}

/** The tree of the same model with other numbers: only the sums are new. */
export function withModel(tree: IGroupTree, model: IGraphModel): IGroupTree {
  const { sums, unknown } = aggregate(model, {
    count: tree.groupCount,
    parent: tree.groupParent,
    nodeParent: tree.nodeParent
  });
  return { ...tree, model, groupMetrics: sums, groupUnknown: unknown };
}

/** See `ITree.groupMain`: the last node in the box that has the box's type. */
function mainNodes(
  model: IGraphModel,
  plumbing: Uint8Array,
  children: readonly Int32Array[],
  types: readonly string[]
): Int32Array {
  return Int32Array.from(plumbing, (isPlumbing, group) => {
    const isMain = (entity: number) =>
      entity < model.nodeCount && model.opType(entity) === types[group];
    const mainChildren = isPlumbing ? children[group + 1].filter(isMain) : [];
    return mainChildren.length > 0 ? mainChildren[mainChildren.length - 1] : -1;
  });
}

/** Builds the tree of a model; without scopes it is flat. Linear time, no recursion. */
export function buildTree(model: IGraphModel): IGroupTree {
  const { raw, order } = collectGroups(model);
  const closest = trimGroups(model, raw, order);
  const numbering = numberGroups(model, raw, closest);
  const { rawOf, parent, children, nodeParent } = numbering;
  const { nodeOrder, nodePosition, start, end, size } = computeRanges(
    model,
    numbering
  );
  const { sums, unknown } = aggregate(model, numbering);
  const groupBody = rawOf.map(group => raw.body[group]);
  const alone = computesAlone(model);
  const groupIsPreparation = Uint8Array.from(rawOf, group =>
    model.payload.scopes.origin[group] === PREPARATION_ORIGIN ? 1 : 0
  );
  const reads = collectReads(model, nodeParent, alone, node => {
    const group = nodeParent[node];
    return groupIsPreparation[group] ? parent[group] : group;
  });
  const series = findSeries(model, reads, {
    nodePosition,
    nodeParent,
    groupStart: start,
    groupEnd: end
  });
  const outputsOf = outputPillGroups(model, nodeParent, series);
  const groupType = Array.from(rawOf, group => raw.type[group]);
  const groupLabel = Array.from(rawOf, group => raw.label[group]);
  const parentOf = (entity: number) =>
    entity < model.nodeCount
      ? nodeParent[entity]
      : parent[entity - model.nodeCount];
  const tree = {
    model,
    groupCount: numbering.count,
    groupParent: parent,
    groupLabel,
    groupType,
    // Payloads of earlier versions lack roles.
    groupRole: Array.from(
      rawOf,
      group => model.payload.scopes.role?.[group] ?? ''
    ),
    groupSize: size,
    groupDepth: numbering.depth,
    nodeParent,
    children,
    groupMetrics: sums,
    groupUnknown: unknown,
    nodeOrder,
    nodePosition,
    groupStart: start,
    groupEnd: end,
    groupBody,
    groupControl: rawOf.map(group => raw.control[group]),
    groupIsRepeat: Uint8Array.from(rawOf, group =>
      model.payload.scopes.origin[group] === REPEAT_ORIGIN ? 1 : 0
    ),
    groupIsPreparation,
    groupMain: mainNodes(model, groupIsPreparation, children, groupType),
    reads,
    ...computeReadRange(
      model,
      reads,
      nodePosition,
      nodeOrder.length,
      outputsOf
    ),
    inputPillGroup: inputPillGroups(model, numbering, reads, groupBody, series),
    outputsOf,
    series,
    path: (entity: number) => {
      const labels: string[] = [];
      for (let g = parentOf(entity); g >= 0; g = parent[g]) {
        labels.push(groupLabel[g]);
      }
      return labels.reverse();
    }
  };
  return { ...tree, groupChips: chipsByHost(tree, alone) };
}
