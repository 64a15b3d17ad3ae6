/** Layouts of a plain graph by our engine and by other libraries, with the same sizes and gaps. */

import dagre from '@dagrejs/dagre';
import type { ELK, ElkNode } from 'elkjs/lib/elk-api';
import { layered } from '../layout/layered/layered';
import { simpleInput } from './layoutInput';
import { LAYOUT_OPTIONS } from '../layout/layered/layoutTypes';
import type { ILayoutInput } from '../layout/layered/layoutTypes';
import type { IDrawnGraph, IPlainGraph } from './quality';

const { itemGap, rankGap, wireGap } = LAYOUT_OPTIONS;

/** Our input for a plain graph. */
export function inputOf(graph: IPlainGraph): ILayoutInput {
  const { width, height, source, target, trunk } = graph;
  return {
    ...simpleInput(width, height, source, target),
    trunk: Int32Array.from(trunk)
  };
}

/** Our layout; every wire is routed through the columns, none in a lane. */
export function drawOurs(graph: IPlainGraph): IDrawnGraph {
  const options = { ...LAYOUT_OPTIONS, maxSpan: Infinity };
  const { x, y, points, pointOffsets } = layered(inputOf(graph), options);
  const routes = graph.source.map((_, e) =>
    Array.from(points.subarray(2 * pointOffsets[e], 2 * pointOffsets[e + 1]))
  );
  return { x, y, routes };
}

interface IRivalPoint {
  readonly x: number;
  readonly y: number;
}

/** The graph in dagre's format. */
export function dagreGraph(graph: IPlainGraph) {
  const g = new dagre.graphlib.Graph();
  g.setGraph({
    rankdir: 'LR',
    nodesep: itemGap,
    ranksep: rankGap,
    edgesep: wireGap
  });
  g.setDefaultEdgeLabel(() => ({}));
  graph.width.forEach((width, v) =>
    g.setNode(String(v), { width, height: graph.height[v] })
  );
  graph.source.forEach((s, e) => g.setEdge(String(s), String(graph.target[e])));
  return g;
}

/** Only runs dagre's layout of a graph. */
export function runDagre(g: ReturnType<typeof dagreGraph>): void {
  dagre.layout(g);
}

/** dagre's layout; throws if the graph is deeper than the stack. */
export function drawDagre(graph: IPlainGraph): IDrawnGraph {
  const g = dagreGraph(graph);
  runDagre(g);
  const items: IRivalPoint[] = graph.width.map((_, v) => g.node(String(v)));
  return {
    x: items.map(({ x }) => x),
    y: items.map(({ y }) => y),
    routes: graph.source.map((s, e) =>
      g
        .edge(String(s), String(graph.target[e]))
        .points.flatMap(({ x, y }: IRivalPoint) => [x, y])
    )
  };
}

/** The graph in elk's format. */
export function elkGraph(graph: IPlainGraph): ElkNode {
  return {
    id: 'root',
    layoutOptions: {
      'elk.algorithm': 'layered',
      'elk.direction': 'RIGHT',
      'elk.edgeRouting': 'POLYLINE',
      'elk.spacing.nodeNode': String(itemGap),
      'elk.spacing.edgeEdge': String(wireGap),
      'elk.spacing.edgeNode': String((itemGap + wireGap) / 2),
      'elk.layered.spacing.nodeNodeBetweenLayers': String(rankGap),
      'elk.layered.spacing.edgeNodeBetweenLayers': String(wireGap),
      'elk.layered.spacing.edgeEdgeBetweenLayers': String(wireGap)
    },
    children: graph.width.map((width, v) => ({
      id: String(v),
      width,
      height: graph.height[v]
    })),
    edges: graph.source.map((s, e) => ({
      id: `e${e}`,
      sources: [String(s)],
      targets: [String(graph.target[e])]
    }))
  };
}

/** elk's layered layout. */
export async function drawElk(
  elk: ELK,
  graph: IPlainGraph
): Promise<IDrawnGraph> {
  const { children = [], edges = [] } = await elk.layout(elkGraph(graph));
  return {
    x: children.map(({ x = 0, width = 0 }) => x + width / 2),
    y: children.map(({ y = 0, height = 0 }) => y + height / 2),
    routes: edges.map(({ sections = [] }) =>
      sections.flatMap(({ startPoint, bendPoints = [], endPoint }) =>
        [startPoint, ...bendPoints, endPoint].flatMap(({ x, y }) => [x, y])
      )
    )
  };
}
