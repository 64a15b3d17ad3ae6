/** Finds steps that must not be straightened because they cross something more important. */

import type { IOrder } from './crossingCounter';
import type { IProperGraph } from './properGraph';
import type { ISpine } from './spine';

/** Blocks steps that cross the spine's step to the next column. */
function markSpine(
  graph: IProperGraph,
  order: IOrder,
  spine: ISpine,
  blocked: Uint8Array
): void {
  const { out: outgoing } = graph;
  const { position, vertices, columns } = order;
  for (let r = 0; r + 1 < graph.rankCount; r++) {
    let s = -1;
    let t = -1;
    for (let i = columns[r]; i < columns[r + 1] && s < 0; i++) {
      const v = vertices[i];
      for (let k = outgoing.offsets[v]; k < outgoing.offsets[v + 1]; k++) {
        if (spine.stepOut[v] === outgoing.step[k]) {
          s = v;
          t = outgoing.vertex[k];
        }
      }
    }
    if (s < 0) {
      continue;
    }
    for (let i = columns[r]; i < columns[r + 1]; i++) {
      const u = vertices[i];
      for (let k = outgoing.offsets[u]; k < outgoing.offsets[u + 1]; k++) {
        if (outgoing.step[k] === spine.stepOut[s]) {
          continue;
        }
        const w = outgoing.vertex[k];
        const meets = u === s || w === t;
        const crosses =
          (position[u] - position[s]) * (position[w] - position[t]) < 0;
        if (meets || crosses) {
          blocked[outgoing.step[k]] = 1;
        }
      }
    }
  }
}

/** The dummy node before a dummy node; -1 for any other vertex. */
function innerNeighbour(graph: IProperGraph, v: number): number {
  if (v < graph.itemCount) {
    return -1;
  }
  const before = graph.in.vertex[graph.in.offsets[v]];
  return before >= graph.itemCount ? before : -1;
}

/** Type 1 conflicts of Brandes and Köpf: a step crosses the inner part of a long wire. */
function markInner(
  graph: IProperGraph,
  order: IOrder,
  blocked: Uint8Array
): void {
  const { position, vertices, columns } = order;
  for (let r = 1; r < graph.rankCount; r++) {
    const [begin, end] = [columns[r], columns[r + 1]];
    let low = 0;
    let scanned = begin;
    for (let i = begin; i < end; i++) {
      const inner = innerNeighbour(graph, vertices[i]);
      if (inner < 0 && i < end - 1) {
        continue;
      }
      const high =
        inner >= 0 ? position[inner] : columns[r] - columns[r - 1] - 1;
      for (; scanned <= i; scanned++) {
        blockOutside(graph, position, vertices[scanned], low, high, blocked);
      }
      low = high;
    }
  }
}

/** Blocks the steps into v from positions outside `low … high`, except inner steps. */
function blockOutside(
  graph: IProperGraph,
  position: Int32Array,
  v: number,
  low: number,
  high: number,
  blocked: Uint8Array
): void {
  for (let k = graph.in.offsets[v]; k < graph.in.offsets[v + 1]; k++) {
    const u = graph.in.vertex[k];
    const isInner = v >= graph.itemCount && u >= graph.itemCount;
    if (!isInner && (position[u] < low || position[u] > high)) {
      blocked[graph.in.step[k]] = 1;
    }
  }
}

/** 1 for every step that alignment must not straighten. */
export function blockedSteps(
  graph: IProperGraph,
  order: IOrder,
  spine: ISpine
): Uint8Array {
  const blocked = new Uint8Array(graph.stepCount);
  markSpine(graph, order, spine, blocked);
  markInner(graph, order, blocked);
  // The spine has priority over everything else.
  for (let v = 0; v < graph.vertexCount; v++) {
    if (spine.stepIn[v] >= 0) {
      blocked[spine.stepIn[v]] = 0;
    }
  }
  return blocked;
}
