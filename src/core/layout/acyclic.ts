/** Finds the edges that close cycles. */

import { indexBy } from '../csr';

/** How an edge takes part in the layout. */
export const EDGE = {
  /** Goes through the columns. */
  normal: 0,
  /** Closes a cycle: drawn in a lane above, ranks see it reversed. */
  back: 1,
  /** Too long: drawn in a lane below. */
  bus: 2,
  /** From an item to itself: not drawn. */
  loop: 3
} as const;

/**
 * Classes of the edges: back edges of a depth-first walk that starts at the items nothing points
 * to, in their given order, so that the given (execution) order is kept where it can be.
 */
export function classifyEdges(
  itemCount: number,
  source: Int32Array,
  target: Int32Array,
  pin: Int8Array
): Uint8Array {
  const edgeClass = new Uint8Array(source.length);
  const out = indexBy(itemCount, source);
  const incoming = new Int32Array(itemCount);
  for (let e = 0; e < source.length; e++) {
    if (source[e] === target[e]) {
      edgeClass[e] = EDGE.loop;
    } else {
      incoming[target[e]]++;
    }
  }
  const state = new Uint8Array(itemCount);
  const cursor = out.offsets.slice(0, itemCount);
  const stack: number[] = [];
  const walk = (start: number) => {
    stack.push(start);
    state[start] = 1;
    while (stack.length > 0) {
      const item = stack[stack.length - 1];
      if (cursor[item] >= out.offsets[item + 1]) {
        state[item] = 2;
        stack.pop();
        continue;
      }
      const edge = out.values[cursor[item]++];
      const next = target[edge];
      if (edgeClass[edge] === EDGE.loop) {
        continue;
      }
      if (state[next] === 1) {
        edgeClass[edge] = EDGE.back;
      } else if (state[next] === 0) {
        state[next] = 1;
        stack.push(next);
      }
    }
  };
  for (let item = 0; item < itemCount; item++) {
    if (state[item] === 0 && incoming[item] === 0) {
      walk(item);
    }
  }
  for (let item = 0; item < itemCount; item++) {
    if (state[item] === 0) {
      walk(item);
    }
  }
  // Nothing may stand left of the first column or right of the last.
  for (let e = 0; e < source.length; e++) {
    const wrong = pin[target[e]] < 0 || pin[source[e]] > 0;
    if (wrong && edgeClass[e] === EDGE.normal) {
      edgeClass[e] = EDGE.back;
    }
  }
  return edgeClass;
}
