/**
 * Selects the wires to replace with named connectors: long reads of widely shared tensors, and very long
 * wires.
 */

import { classifyEdges, EDGE } from '../layered/cycleRemoval';
import { STUB_FANOUT, STUB_REACH, STUB_SPAN } from './layoutMetrics';
import { assignRanks } from '../layered/rankAssignment';
import type { ILayoutInput } from '../layered/layoutTypes';

/** Wires of a level before connectors are added; `tensor` is by wire. */
export interface IWires {
  readonly input: ILayoutInput;
  readonly tensor: Int32Array;
}

/** The trunk (tensor and source) of each wire, and the number of wires of each trunk. */
function groupTrunks({ input, tensor }: IWires): {
  key: Int32Array;
  fanout: number[];
} {
  const ids = new Map<number, number>();
  const key = new Int32Array(tensor.length);
  const fanout: number[] = [];
  for (let e = 0; e < tensor.length; e++) {
    const name = input.source[e] * 2 ** 24 + tensor[e];
    let id = ids.get(name);
    if (id === undefined) {
      id = fanout.length;
      ids.set(name, id);
      fanout.push(0);
    }
    key[e] = id;
    fanout[id]++;
  }
  return { key, fanout };
}

/** 1 for every wire that becomes a connector. */
export function selectStubbedWires(wires: IWires): Uint8Array {
  const { input } = wires;
  const edges = input.source.length;
  const stubbed = new Uint8Array(edges);
  if (edges < STUB_FANOUT && input.itemCount <= STUB_SPAN) {
    return stubbed;
  }
  const { key, fanout } = groupTrunks(wires);
  const shared = fanout.some(count => count >= STUB_FANOUT);
  if (!shared && input.itemCount <= STUB_SPAN) {
    return stubbed;
  }
  const edgeClass = classifyEdges(
    input.itemCount,
    input.source,
    input.target,
    input.pin
  );
  const rank = assignRanks(input, edgeClass);
  const reach = new Int32Array(fanout.length);
  const span = (e: number) =>
    edgeClass[e] === EDGE.normal
      ? rank[input.target[e]] - rank[input.source[e]]
      : 0;
  for (let e = 0; e < edges; e++) {
    reach[key[e]] = Math.max(reach[key[e]], span(e));
  }
  for (let e = 0; e < edges; e++) {
    const wide = fanout[key[e]] >= STUB_FANOUT && reach[key[e]] > STUB_REACH;
    if ((wide && span(e) > 1) || span(e) > STUB_SPAN) {
      stubbed[e] = 1;
    }
  }
  return stubbed;
}
