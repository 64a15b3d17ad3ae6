/** The wires of a level as an acyclic graph. */

import { indexBy } from '../../base/csr';
import { EDGE } from './cycleRemoval';
import type { ILayoutInput } from './layoutTypes';

/** The edges as a DAG: back edges reversed, loops omitted. */
export interface IDag {
  readonly count: number;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly out: { offsets: Int32Array; values: Int32Array };
  readonly in: { offsets: Int32Array; values: Int32Array };
  readonly pin: Int8Array;
}

export function dagOf(input: ILayoutInput, edgeClass: Uint8Array): IDag {
  const edges: number[] = [];
  for (let e = 0; e < edgeClass.length; e++) {
    if (edgeClass[e] !== EDGE.loop) {
      edges.push(e);
    }
  }
  const isBack = (e: number) => edgeClass[e] === EDGE.back;
  const from = Int32Array.from(edges, e =>
    isBack(e) ? input.target[e] : input.source[e]
  );
  const to = Int32Array.from(edges, e =>
    isBack(e) ? input.source[e] : input.target[e]
  );
  return {
    count: input.itemCount,
    from,
    to,
    out: indexBy(input.itemCount, from),
    in: indexBy(input.itemCount, to),
    pin: input.pin
  };
}

export const outDegree = (dag: IDag, v: number) =>
  dag.out.offsets[v + 1] - dag.out.offsets[v];
export const inDegree = (dag: IDag, v: number) =>
  dag.in.offsets[v + 1] - dag.in.offsets[v];

/** Column of the closest successor. */
export function nextRank(dag: IDag, rank: Int32Array, v: number): number {
  let least = Infinity;
  for (let k = dag.out.offsets[v]; k < dag.out.offsets[v + 1]; k++) {
    least = Math.min(least, rank[dag.to[dag.out.values[k]]]);
  }
  return least;
}

/** Column of the closest predecessor. */
export function previousRank(dag: IDag, rank: Int32Array, v: number): number {
  let maximum = -Infinity;
  for (let k = dag.in.offsets[v]; k < dag.in.offsets[v + 1]; k++) {
    maximum = Math.max(maximum, rank[dag.from[dag.in.values[k]]]);
  }
  return maximum;
}
