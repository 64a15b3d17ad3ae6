/** Order within the columns: the best of several initial orders, sweeps, and branch placements. */

import type { IOrder } from './crossingCounter';
import type { IProperGraph } from './properGraph';
import { placeBranches } from './branchSides';
import { LayerSweep } from './barycenterSweep';

/** Up to this many vertices, four initial orders are tried; above, two. */
const MAX_FOUR_STARTS = 4000;
const STALE_SWEEPS = 4;
/** Larger graphs get a single order: comparing orders takes as long as assigning coordinates. */
const MAX_COMPARED = 20_000;
/** How often branches are placed and swept again. */
const MAX_PLACEMENTS = 3;

/** A candidate order, column by column. */
interface IOrderCandidate {
  readonly crossings: number;
  readonly saved: Int32Array;
}

function captureCandidate(sweeper: LayerSweep): IOrderCandidate {
  return { crossings: sweeper.crossings(), saved: sweeper.save() };
}

/** Sweeps from the current order. Returns the best order seen if it beats `best`. */
function sweep(
  sweeper: LayerSweep,
  forward: boolean,
  fixed: boolean,
  sweeps: number,
  best: IOrderCandidate
): IOrderCandidate {
  let current = sweeper.crossings();
  if (current < best.crossings) {
    best = { crossings: current, saved: sweeper.save() };
  }
  let stale = 0;
  for (let i = 0; i < sweeps && stale < STALE_SWEEPS; i++) {
    if (best.crossings === 0) {
      break;
    }
    sweeper.sweep((i % 2 === 0) === forward, fixed, (i >> 1) % 2 === 1);
    sweeper.transpose();
    const now = sweeper.crossings();
    stale = now < current ? 0 : stale + 1;
    current = Math.min(current, now);
    if (now < best.crossings) {
      best = { crossings: now, saved: sweeper.save() };
    }
  }
  return best;
}

/** The order with newly placed branches. */
function placeBranchesAgain(
  graph: IProperGraph,
  sweeper: LayerSweep,
  { saved }: IOrderCandidate,
  gap: number
): IOrderCandidate {
  sweeper.restore(saved);
  sweeper.restore(placeBranches(graph, sweeper.order, gap));
  if (sweeper.crossings() > 0) {
    sweeper.transpose();
  }
  return captureCandidate(sweeper);
}

/** Orders with the same lowest number of crossings, and that number. */
export interface IOrderings {
  readonly crossings: number;
  readonly orders: readonly IOrder[];
}

/** Orders every column with few crossings. `gap` is the space between vertices. Deterministic. */
export function orderVertices(
  graph: IProperGraph,
  sweeps: number,
  gap: number
): IOrderings {
  const sweeper = new LayerSweep(graph);
  const starts = graph.vertexCount > MAX_FOUR_STARTS ? 2 : 4;
  let best: IOrderCandidate = { crossings: Infinity, saved: sweeper.save() };
  for (let start = 0; start < starts && best.crossings > 0; start++) {
    const forward = start % 2 === 0;
    sweeper.start(forward);
    best = sweep(sweeper, forward, start < 2, sweeps, best);
  }
  let other = placeBranchesAgain(graph, sweeper, best, gap);
  let isImproving = best.crossings > 0;
  for (let round = 0; round < MAX_PLACEMENTS && isImproving; round++) {
    const swept = sweep(sweeper, round % 2 === 0, true, sweeps, other);
    isImproving = swept.crossings < Math.min(best.crossings, other.crossings);
    if (swept.crossings < best.crossings) {
      best = swept;
    }
    if (isImproving) {
      other = placeBranchesAgain(graph, sweeper, best, gap);
    }
  }
  const crossings = Math.min(best.crossings, other.crossings);
  const fewest = [other, best].filter(
    candidate => candidate.crossings === crossings
  );
  const orders = fewest
    .slice(0, graph.vertexCount > MAX_COMPARED ? 1 : 2)
    .map(({ saved }) => {
      sweeper.restore(saved);
      const { columns, position } = sweeper.order;
      return { vertices: saved, columns, position: position.slice() };
    });
  return { crossings, orders };
}
