/**
 * Panels of open groups around their layouts: margins, titles and ports, in both directions of the flow.
 */

import type { FlowDirection } from '../../types';
import { PANEL, MIN_TITLE_BESIDE_WIRES, TITLE_GAP } from './layoutMetrics';
import { LAYOUT_OPTIONS } from '../layered/layoutTypes';
import { asRowedResult } from '../rows/rowedResult';
import type {
  ILayoutInput,
  ILayoutOptions,
  ILayoutResult
} from '../layered/layoutTypes';
import type { ILevel } from '../../tree/treeTypes';

/** Size of a panel and origin of its layout, along and across the flow. */
export interface IPanelGeometry {
  readonly along: number;
  readonly across: number;
  readonly originAlong: number;
  readonly originAcross: number;
}

const OPTIONS: Readonly<Record<FlowDirection, ILayoutOptions>> = {
  right: {
    ...LAYOUT_OPTIONS,
    // Wide enough for a shape such as `1×512×28×28` on the wire.
    rankGap: 76,
    // The wire's shape is shown outside the panel.
    portGap: 40,
    portWidth: PANEL.port,
    maxSpan: Infinity
  },
  down: {
    ...LAYOUT_OPTIONS,
    // High enough for a panel's title between its ports and its first row.
    rankGap: 52,
    portGap: 52,
    // Shapes are shown next to the wires, between the cards of a row.
    itemGap: 28,
    wireGap: 16,
    maxSpan: Infinity
  }
};

/** Layout options for a direction. */
export function layoutOptionsFor(direction: FlowDirection): ILayoutOptions {
  return OPTIONS[direction];
}

/** First entering and first leaving port among the items of a level. */
export function firstPorts(level: ILevel): {
  entering: number;
  leaving: number;
} {
  const leaving = level.itemCount - level.portsOut.length;
  return { entering: leaving - level.portsIn.length, leaving };
}

/** Margins along the flow; ports lie on the border itself. */
export function margins(
  level: ILevel,
  direction: FlowDirection
): { before: number; after: number } {
  const onBorder = -PANEL.port / 2;
  const first = direction === 'right' ? PANEL.padding : PANEL.title;
  return {
    before: level.portsIn.length > 0 ? onBorder : first,
    after: level.portsOut.length > 0 ? onBorder : PANEL.padding
  };
}

/** Width taken from rows by the sides of a panel: margins, ports and their gaps. */
export function widthAround(level: ILevel): number {
  if (level.group < 0) {
    return 0;
  }
  const centerOf = (ports: Int32Array) =>
    ports.length > 0 ? PANEL.port + OPTIONS.right.portGap : PANEL.padding;
  return centerOf(level.portsIn) + centerOf(level.portsOut);
}

/** Options with wider gaps if the panel would be narrower than its title; null if it is wide enough. */
export function widenForTitle(
  level: ILevel,
  geometry: ILayoutResult,
  title: number,
  direction: FlowDirection
): ILayoutOptions | null {
  if (level.group < 0 || geometry.rank.length === 0 || direction === 'down') {
    return null;
  }
  const { before, after } = margins(level, direction);
  const deficit = title - (before + geometry.width + after);
  const gaps = geometry.rank.reduce((max, r) => Math.max(max, r), 0);
  const options = layoutOptionsFor(direction);
  if (deficit <= 0 || gaps <= 0) {
    return null;
  }
  const more = Math.ceil(deficit / gaps);
  const { rankGap, portGap } = options;
  return { ...options, rankGap: rankGap + more, portGap: portGap + more };
}

/**
 * Extends rows that are narrower than their panel's title, so that tensors leave at the panel's border.
 * For graphs that flow to the right.
 */
export function reachingTitle(
  level: ILevel,
  input: ILayoutInput,
  geometry: ILayoutResult,
  title: number
): ILayoutResult {
  const { before, after } = margins(level, 'right');
  const deficit = title - (before + geometry.width + after);
  const { leaving } = firstPorts(level);
  if (level.group < 0 || deficit <= 0 || !asRowedResult(geometry)) {
    return geometry;
  }
  const [x, points] = [geometry.x.slice(), geometry.points.slice()];
  for (let port = leaving; port < level.itemCount; port++) {
    x[port] += deficit;
  }
  input.target.forEach((item, edge) => {
    if (item >= leaving && item < level.itemCount) {
      points[2 * (geometry.pointOffsets[edge + 1] - 1)] += deficit;
    }
  });
  return { ...geometry, x, points, width: geometry.width + deficit };
}

/** Widths required by a title. */
export interface ITitleRoom {
  /** Minimum width of the panel. */
  readonly panel: number;
  /** Right end of the text. */
  readonly text: number;
}

/**
 * The panel around a layout; the root has none. In a graph that flows down, wires enter through the title
 * bar, so the contents are moved right until the first wire clears the title.
 */
export function panelAround(
  level: ILevel,
  geometry: ILayoutResult,
  title: ITitleRoom,
  direction: FlowDirection
): IPanelGeometry {
  if (level.group < 0) {
    const { width, height } = geometry;
    return { along: width, across: height, originAlong: 0, originAcross: 0 };
  }
  const { before, after } = margins(level, direction);
  const content = before + geometry.width + after;
  if (direction === 'right') {
    const along = Math.max(content, title.panel);
    return {
      along,
      across: PANEL.title + geometry.height + PANEL.padding,
      originAlong: before + (along - content) / 2,
      originAcross: PANEL.title
    };
  }
  const port = firstPortPlace(level, geometry);
  const left = Math.max(
    PANEL.padding,
    Math.min(MIN_TITLE_BESIDE_WIRES, title.text) + TITLE_GAP - port
  );
  const needed = left + geometry.height + PANEL.padding;
  const across = Math.max(needed, title.panel);
  return {
    along: content,
    across,
    originAlong: before,
    originAcross: left + (across - needed) / 2
  };
}

/** Position of the first entering port across the flow; infinite if there is none. */
function firstPortPlace(level: ILevel, geometry: ILayoutResult): number {
  const { entering, leaving } = firstPorts(level);
  let least = Infinity;
  for (let item = entering; item < leaving; item++) {
    least = Math.min(least, geometry.y[item]);
  }
  return least;
}

/** Positions of ports across the flow, from the panel's centre. */
export function portPlaces(
  geometry: ILayoutResult,
  { originAcross, across }: IPanelGeometry,
  first: number,
  count: number
): Float64Array {
  const positions = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    positions[i] = originAcross + geometry.y[first + i] - across / 2;
  }
  return positions;
}
