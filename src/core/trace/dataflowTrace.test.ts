import { describe, expect, it } from 'vitest';
import { computeTraceHighlight } from './traceHighlight';
import { decodePayload } from '../model/decodePayload';
import { PayloadBuilder } from '../testing/builder';
import { Random } from '../testing/random';
import { randomPayload } from '../testing/randomPayload';
import { chainPayload, resnetPayload } from '../testing/payloads';
import { plainSizer } from '../testing/sizer';
import {
  collectAncestors,
  collectDescendants,
  pathsBetween
} from './dataflowTrace';
import { buildTree } from '../tree/groupTree';
import { BoxKind, type IScene } from '../types';
import { createGraphView } from '../view/graphView';
import type { IGroupTree } from '../tree/treeTypes';

const marked = (marks: Uint8Array): number[] =>
  [...marks.keys()].filter(i => marks[i]);

/** A naive reference: repeated passes over all reads. */
function slowly(tree: IGroupTree, seed: number, forward: boolean): number[] {
  const { model, reads } = tree;
  const reached = new Set([seed]);
  for (let size = -1; size !== reached.size;) {
    size = reached.size;
    for (let node = 0; node < model.nodeCount; node++) {
      for (let k = reads.offsets[node]; k < reads.offsets[node + 1]; k++) {
        const producer = model.tensorProducer[reads.values[k]];
        const [from, to] = forward ? [producer, node] : [node, producer];
        if (to >= 0 && reached.has(from)) {
          reached.add(to);
        }
      }
    }
  }
  return [...reached].sort((a, b) => a - b);
}

describe('traversals', () => {
  it('equal a fixed-point computation in random models', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = new Random(seed);
      const model = decodePayload(randomPayload(random, 60));
      const tree = buildTree(model);
      const nodes = [...tree.nodeOrder];
      if (nodes.length === 0) {
        continue;
      }
      const a = random.pick(nodes);
      const b = random.pick(nodes);
      const up = collectAncestors(tree, { nodes: [a] });
      const down = collectDescendants(tree, { nodes: [a] });
      expect(marked(up.nodes)).toEqual(slowly(tree, a, false));
      expect(marked(down.nodes)).toEqual(slowly(tree, a, true));
      expect(up.count).toBe(marked(up.nodes).length);
      const between = (x: number, y: number): number[] => {
        const before = slowly(tree, y, false);
        const ahead = slowly(tree, x, true);
        return ahead.includes(y) ? ahead.filter(n => before.includes(n)) : [];
      };
      const expected = new Set([...between(a, b), ...between(b, a)]);
      const trace = pathsBetween(tree, { nodes: [a] }, { nodes: [b] });
      expect(trace ? marked(trace.nodes) : []).toEqual(
        [...expected].sort((x, y) => x - y)
      );
    }
  });

  it('reach the end of a chain of 200,000 nodes', () => {
    const tree = buildTree(decodePayload(chainPayload(200_000)));
    const last = tree.nodeOrder[tree.nodeOrder.length - 1];
    const first = tree.nodeOrder[0];
    expect(collectAncestors(tree, { nodes: [last] }).count).toBe(200_000);
    expect(collectDescendants(tree, { nodes: [first] }).count).toBe(200_000);
    expect(
      pathsBetween(tree, { nodes: [last] }, { nodes: [first] })?.count
    ).toBe(200_000);
  });

  it('terminate in a cycle', () => {
    const b = new PayloadBuilder();
    const x = b.input('x');
    const [first] = b.add('Add', [x, x]);
    const [second] = b.add('Relu', [first]);
    b.output(second);
    const payload = b.finish();
    // No valid model has a cycle, but a broken file may.
    payload.nodes.inputs[1] = second;
    const tree = buildTree(decodePayload(payload));
    expect(marked(collectAncestors(tree, { nodes: [0] }).nodes)).toEqual([
      0, 1
    ]);
    expect(marked(collectDescendants(tree, { nodes: [0] }).nodes)).toEqual([
      0, 1
    ]);
  });

  it('follow the subgraphs of loops across iterations', () => {
    const b = new PayloadBuilder();
    const x = b.input('x');
    const [before] = b.add('Relu', [x]);
    const [after] = b.add('Loop', [before], { name: 'loop' });
    const loop = b.lastNode;
    const graph = b.body(loop, 'body', ['loop']);
    const state = b.input('state', [1], graph);
    const [read] = b.add('Sigmoid', [state], { graph, scope: ['loop'] });
    const inner = b.lastNode;
    const [next] = b.add('Tanh', [x], { graph, scope: ['loop'] });
    const lastNode = b.lastNode;
    b.output(read, graph);
    b.output(next, graph);
    b.add('Relu', [after]);
    const end = b.lastNode;
    const tree = buildTree(decodePayload(b.finish()));
    const up = marked(collectAncestors(tree, { nodes: [inner] }).nodes);
    expect(up).toEqual([0, inner, lastNode].sort((p, q) => p - q));
    const down = marked(collectDescendants(tree, { nodes: [lastNode] }).nodes);
    expect(down).toEqual([loop, inner, lastNode, end].sort((p, q) => p - q));
    const trace = pathsBetween(tree, { nodes: [0] }, { nodes: [end] });
    expect(trace && marked(trace.nodes)).toContain(inner);
  });

  it('also start from tensors, and find no path if there is none', () => {
    const b = new PayloadBuilder();
    const x = b.input('x');
    const [left] = b.add('Relu', [x]);
    b.add('Sigmoid', [x]);
    b.output(left);
    const tree = buildTree(decodePayload(b.finish()));
    expect(collectDescendants(tree, { nodes: [], tensors: [x] }).count).toBe(2);
    expect(collectAncestors(tree, { nodes: [], tensors: [left] }).count).toBe(
      1
    );
    expect(pathsBetween(tree, { nodes: [0] }, { nodes: [1] })).toBeNull();
  });
});

/** Checks the highlighted wires against the nodes behind their ends. */
function checkLit(
  tree: IGroupTree,
  scene: IScene,
  highlight: Uint8Array[]
): void {
  const [nodes, tensors, boxes, edges] = highlight;
  const { model, reads } = tree;
  for (let node = 0; node < model.nodeCount; node++) {
    const box = scene.boxOf(node);
    if (nodes[node] && box >= 0) {
      expect(boxes[box]).toBe(1);
    }
  }
  for (let b = 0; b < scene.boxCount; b++) {
    if (scene.boxKind[b] <= BoxKind.Group && boxes[b]) {
      const contained = [...tree.nodeOrder].filter(n => scene.boxOf(n) === b);
      expect(contained.some(n => nodes[n])).toBe(true);
    }
  }
  for (let e = 0; e < scene.edgeCount; e++) {
    const [s, t] = [scene.edgeSource[e], scene.edgeTarget[e]];
    if (scene.boxKind[s] > BoxKind.Group || scene.boxKind[t] > BoxKind.Group) {
      continue;
    }
    let hasEdge = false;
    for (let node = 0; node < model.nodeCount; node++) {
      for (let k = reads.offsets[node]; k < reads.offsets[node + 1]; k++) {
        const tensor = reads.values[k];
        const producer = model.tensorProducer[tensor];
        hasEdge ||=
          nodes[node] === 1 &&
          tensors[tensor] === 1 &&
          producer >= 0 &&
          scene.boxOf(node) === t &&
          scene.boxOf(producer) === s;
      }
    }
    expect(edges[e]).toBe(hasEdge ? 1 : 0);
  }
}

describe('highlighting a trace in a scene', () => {
  it('marks boxes and edges however many blocks are collapsed', async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const random = new Random(seed);
      const model = decodePayload(randomPayload(random, 40));
      const tree = buildTree(model);
      if (tree.nodeOrder.length === 0) {
        continue;
      }
      const view = createGraphView(tree, plainSizer(model, tree));
      const start = { nodes: [random.pick([...tree.nodeOrder])] };
      for (const budget of [2, 8, 1000]) {
        const scene = await view.openInitial(budget);
        for (const trace of [
          collectAncestors(tree, start),
          collectDescendants(tree, start)
        ]) {
          const highlight = computeTraceHighlight(tree, scene, trace);
          checkLit(tree, scene, [
            trace.nodes,
            trace.tensors,
            highlight.boxes,
            highlight.edges
          ]);
        }
      }
    }
  });

  it('marks a path without gaps across the borders of expanded blocks', async () => {
    const model = decodePayload(resnetPayload());
    const tree = buildTree(model);
    const view = createGraphView(tree, plainSizer(model, tree));
    const scene = await view.expandAll(10_000);
    const [first] = tree.nodeOrder;
    const last = tree.nodeOrder[tree.nodeOrder.length - 1];
    const trace = pathsBetween(tree, { nodes: [first] }, { nodes: [last] });
    const { boxes, edges } = computeTraceHighlight(tree, scene, trace!);
    const reached = new Set([scene.boxOf(first)]);
    const list = [...reached];
    for (const box of list) {
      for (let e = 0; e < scene.edgeCount; e++) {
        const to = scene.edgeTarget[e];
        if (edges[e] && scene.edgeSource[e] === box && !reached.has(to)) {
          reached.add(to);
          list.push(to);
        }
      }
    }
    expect(reached.has(scene.boxOf(last))).toBe(true);
    expect([...reached].every(box => boxes[box])).toBe(true);
    // Every highlighted wire ends at a highlighted box.
    const outOf = new Set(
      [...edges.keys()].filter(e => edges[e]).map(e => scene.edgeSource[e])
    );
    for (let e = 0; e < scene.edgeCount; e++) {
      const target = scene.edgeTarget[e];
      if (edges[e] && scene.boxKind[target] === BoxKind.Port) {
        expect(outOf.has(target)).toBe(true);
      }
    }
  });
});
