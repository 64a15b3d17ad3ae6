/** Finds the edges that close cycles. */

import { indexBy } from '../../base/csr';

/** Role of an edge in the layout. */
export const EDGE = {
  /** Runs through the columns. */
  normal: 0,
  /** Closes a cycle: drawn in a lane above; reversed for rank assignment. */
  back: 1,
  /** Too long: drawn in a lane below. */
  bus: 2,
  /** From an item to itself: not drawn. */
  loop: 3
} as const;

/** Marks edges to items that are still on the stack of the depth-first search. */
function markBack(
  itemCount: number,
  source: Int32Array,
  target: Int32Array,
  starts: Int32Array,
  edgeClass: Uint8Array
): void {
  const outgoing = indexBy(itemCount, source);
  const state = new Uint8Array(itemCount);
  const cursor = outgoing.offsets.slice(0, itemCount);
  const stack: number[] = [];
  const enter = (item: number) => {
    if (state[item] === 0) {
      state[item] = 1;
      stack.push(item);
    }
  };
  for (const start of starts) {
    enter(start);
    while (stack.length > 0) {
      const item = stack[stack.length - 1];
      if (cursor[item] >= outgoing.offsets[item + 1]) {
        state[item] = 2;
        stack.pop();
        continue;
      }
      const edge = outgoing.values[cursor[item]++];
      if (edgeClass[edge] === EDGE.loop) {
        continue;
      }
      if (state[target[edge]] === 1) {
        edgeClass[edge] = EDGE.back;
      }
      enter(target[edge]);
    }
  }
}

/**
 * Classifies the edges. Back edges are those of a depth-first search that starts at items without
 * incoming edges, in the given order, so that the given (execution) order is kept where possible.
 */
export function classifyEdges(
  itemCount: number,
  source: Int32Array,
  target: Int32Array,
  pin: Int8Array
): Uint8Array {
  const edgeClass = new Uint8Array(source.length);
  const incoming = new Uint8Array(itemCount);
  for (let e = 0; e < source.length; e++) {
    if (source[e] === target[e]) {
      edgeClass[e] = EDGE.loop;
    } else {
      incoming[target[e]] = 1;
    }
  }
  const starts = indexBy(2, incoming).values;
  markBack(itemCount, source, target, starts, edgeClass);
  // Nothing may be placed left of the first column or right of the last.
  for (let e = 0; e < source.length; e++) {
    const isReversed = pin[target[e]] < 0 || pin[source[e]] > 0;
    if (isReversed && edgeClass[e] === EDGE.normal) {
      edgeClass[e] = EDGE.back;
    }
  }
  return edgeClass;
}
