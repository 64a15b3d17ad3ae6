/** Turns recorded scopes and subgraphs into the groups worth drawing. Nothing is recursive. */

import { indexBy } from '../base/csr';
import type { IGraphModel } from '../types';

/**
 * Origin of boxes of nodes that only prepare sizes and weights, with or without the node that reads them.
 */
export const PREPARATION_ORIGIN = 'plumbing';

/**
 * Candidate groups before trimming: scopes, then one per control-flow node, then subgraphs without one.
 */
export interface IRawGroups {
  readonly parent: number[];
  readonly label: string[];
  readonly type: string[];
  /** Graph id of the subgraph that the group stands for; -1 otherwise. */
  readonly body: number[];
  /** Control-flow node that the group stands for; -1 otherwise. */
  readonly control: number[];
  /** Group of each node; -1 is the root. */
  readonly nodeGroup: Int32Array;
}

/** The last part of a node's name, else its operator type. */
function controlLabel(model: IGraphModel, node: number): string {
  const name = model.nodeName(node).split('/').pop() ?? '';
  return name || model.opType(node);
}

/** Adds a group for each If, Loop or Scan, with the node itself and its subgraphs. */
function addControlGroups(model: IGraphModel, raw: IRawGroups): Int32Array {
  const { graphs } = model.payload;
  const bodyGroup = new Int32Array(graphs.name.length).fill(-1);
  const groupOfControl = new Map<number, number>();
  const add = (
    parent: number,
    label: string,
    type: string,
    body: number,
    control: number
  ) => {
    raw.parent.push(parent);
    raw.label.push(label);
    raw.type.push(type);
    raw.body.push(body);
    raw.control.push(control);
    return raw.parent.length - 1;
  };
  for (let graph = 1; graph < graphs.name.length; graph++) {
    const node = graphs.parent_node[graph];
    if (!(node >= 0 && node < model.nodeCount)) {
      continue;
    }
    let control = groupOfControl.get(node);
    if (control === undefined) {
      const type = model.opType(node);
      const parent = model.nodeScope[node];
      control = add(parent, controlLabel(model, node), type, -1, node);
      groupOfControl.set(node, control);
    }
    const label = graphs.attribute[graph] || graphs.name[graph] || 'body';
    const scope = graphs.scope[graph];
    if (scope >= 0 && scope < model.payload.scopes.parent.length) {
      raw.parent[scope] = control;
      raw.label[scope] = label;
      raw.body[scope] = graph;
      bodyGroup[graph] = scope;
    } else {
      bodyGroup[graph] = add(control, label, '', graph, -1);
    }
  }
  for (const [node, group] of groupOfControl) {
    raw.nodeGroup[node] = group;
  }
  return bodyGroup;
}

/** Groups with parents first. A group in a cycle of parents is attached to the root. */
function topDown(parent: number[]): Int32Array {
  const count = parent.length;
  const children = indexBy(
    count + 1,
    parent.map(p => (p >= 0 && p < count ? p + 1 : 0))
  );
  const order = new Int32Array(count);
  const visited = new Uint8Array(count);
  let filled = 0;
  let head = 0;
  const visit = (row: number) => {
    for (let k = children.offsets[row]; k < children.offsets[row + 1]; k++) {
      const child = children.values[k];
      if (!visited[child]) {
        visited[child] = 1;
        order[filled++] = child;
      }
    }
  };
  const drain = () => {
    while (head < filled) {
      visit(order[head++] + 1);
    }
  };
  visit(0);
  drain();
  for (let group = 0; group < count; group++) {
    if (!visited[group]) {
      parent[group] = -1;
      visited[group] = 1;
      order[filled++] = group;
      drain();
    }
  }
  return order;
}

/** Moves nodes of a subgraph whose scope lies outside it directly into the subgraph. */
function confineToBodies(
  model: IGraphModel,
  raw: IRawGroups,
  order: Int32Array,
  bodyGroup: Int32Array
): void {
  const enclosing = new Int32Array(raw.parent.length);
  for (const group of order) {
    const parent = raw.parent[group];
    const inherited = parent >= 0 ? enclosing[parent] : 0;
    enclosing[group] = raw.body[group] > 0 ? raw.body[group] : inherited;
  }
  for (let node = 0; node < model.nodeCount; node++) {
    const graph = model.nodeGraph[node];
    const group = raw.nodeGroup[node];
    const parent = group >= 0 ? enclosing[group] : 0;
    if (graph > 0 && parent !== graph && bodyGroup[graph] >= 0) {
      raw.nodeGroup[node] = bodyGroup[graph];
    }
  }
}

/** Collects candidate groups and their top-down order. */
export function collectGroups(model: IGraphModel): {
  raw: IRawGroups;
  order: Int32Array;
} {
  const { scopes } = model.payload;
  const count = scopes.parent.length;
  const raw: IRawGroups = {
    parent: scopes.parent.map((p, i) => (p >= 0 && p < i ? p : -1)),
    label: scopes.label.map(label => label || '(unnamed)'),
    type: scopes.type.map(type => type ?? ''),
    body: new Array<number>(count).fill(-1),
    control: new Array<number>(count).fill(-1),
    nodeGroup: model.nodeScope.slice()
  };
  const bodyGroup = addControlGroups(model, raw);
  const order = topDown(raw.parent);
  confineToBodies(model, raw, order, bodyGroup);
  return { raw, order };
}

/**
 * Decides which groups stay: empty ones are removed, a group whose only child is a group is joined with
 * it (`encoder / layer`), a group whose only child is a node is replaced by the node. Subgraphs stay, and
 * so does a node that only prepares something: it can be a chip.
 * Returns, for every group, the closest group that stays (itself if it does); -1 is the root.
 */
export function trimGroups(
  model: IGraphModel,
  raw: IRawGroups,
  order: Int32Array
): Int32Array {
  const count = raw.parent.length;
  const children = new Int32Array(count);
  const onlyGroup = new Int32Array(count).fill(-1);
  for (let node = 0; node < model.nodeCount; node++) {
    if (raw.nodeGroup[node] >= 0 && !model.nodeConstant[node]) {
      children[raw.nodeGroup[node]]++;
    }
  }
  const stays = new Uint8Array(count);
  for (let i = count - 1; i >= 0; i--) {
    const group = order[i];
    const parent = raw.parent[group];
    if (children[group] === 0) {
      continue;
    }
    let survivor = group;
    const isLonePreparation =
      onlyGroup[group] < 0 &&
      model.payload.scopes.origin[group] === PREPARATION_ORIGIN;
    if (children[group] === 1 && raw.body[group] < 0 && !isLonePreparation) {
      survivor = onlyGroup[group];
      if (survivor >= 0) {
        raw.label[survivor] = `${raw.label[group]} / ${raw.label[survivor]}`;
      }
    } else {
      stays[group] = 1;
    }
    if (parent >= 0) {
      children[parent]++;
      onlyGroup[parent] = survivor;
    }
  }
  const closest = new Int32Array(count).fill(-1);
  for (const group of order) {
    const parent = raw.parent[group];
    const inherited = parent >= 0 ? closest[parent] : -1;
    closest[group] = stays[group] ? group : inherited;
  }
  return closest;
}
