/** Decorations of the graph: hovered and selected wires, consumers, selection, search matches. */
import { seriesRepresentative } from '../../../../core/tree/tensorSeries';
import { BoxKind, type IScene, type ITree } from '../../../../core/types';
import { edgePath, edgeWidth } from '../../geometry/wirePath';
import type { SceneAdjacency } from '../../scene/sceneAdjacency';
import { RADIUS, TITLE_BAR } from '../../style/metrics';
import { svgElement } from './svgTarget';

/** Maximum number of marks; more are not informative and slow down every frame. */
const MAX_MARKS = 1500;

export interface IDecorations {
  /** Box under the pointer; -1 if there is none. */
  readonly hoverBox: number;
  /** Tensors under the pointer. */
  readonly hoverTensors: readonly number[];
  /** Tensors that are selected. */
  readonly tensors: readonly number[];
  readonly selection: readonly number[];
  readonly hits: ReadonlySet<number>;
  readonly currentHit: number;
  /** Box with the keyboard cursor while no element can take the focus; -1 if there is none. */
  readonly cursor: number;
}

export const NO_DECORATIONS: IDecorations = {
  hoverBox: -1,
  hoverTensors: [],
  tensors: [],
  selection: [],
  hits: new Set(),
  currentHit: -1,
  cursor: -1
};

export class DecorationLayer {
  /** Decorations below the boxes: wires. */
  readonly wires = svgElement('g');
  /** Decorations above the boxes: rings. */
  readonly rings = svgElement('g');
  /** Wires of a series carry its first member; null before the first scene. */
  tree: ITree | null = null;

  constructor() {
    this.wires.setAttribute('class', 'oad-decor');
    this.rings.setAttribute('class', 'oad-decor');
  }

  /** `isVisible` selects the matches worth a mark: those near the view. */
  draw(
    scene: IScene,
    links: SceneAdjacency,
    decorations: IDecorations,
    isVisible: (box: number) => boolean
  ): void {
    const wires: SVGElement[] = [];
    const rings: SVGElement[] = [];
    const wire = (edges: Iterable<number>, name: string): void => {
      const path = wirePath(scene, edges, name);
      if (path) {
        wires.push(path);
      }
    };
    const bright = this._brightTensors([
      ...decorations.tensors,
      ...decorations.hoverTensors
    ]);
    wire(
      bright.flatMap(tensor => links.edgesOf(tensor)),
      'oad-wire-bright'
    );
    for (const box of this._endsOf(scene, links, bright)) {
      rings.push(ring(scene, box, 'oad-ring-consumer', 1));
    }
    const tensorEdges = this._brightTensors(decorations.tensors).flatMap(t =>
      links.pillsOf(t)
    );
    for (const box of tensorEdges.slice(0, MAX_MARKS)) {
      rings.push(ring(scene, box, 'oad-ring-selected', 2));
    }
    if (decorations.hoverBox >= 0) {
      wire(links.incoming(decorations.hoverBox), 'oad-wire-in');
      wire(links.outgoing(decorations.hoverBox), 'oad-wire-bright');
      rings.push(ring(scene, decorations.hoverBox, 'oad-ring-hover', 1));
    }
    let count = 0;
    for (const box of decorations.hits) {
      if (
        box !== decorations.currentHit &&
        isVisible(box) &&
        count++ < MAX_MARKS
      ) {
        rings.push(ring(scene, box, 'oad-ring-hit', 2));
      }
    }
    if (decorations.currentHit >= 0) {
      rings.push(
        ring(scene, decorations.currentHit, 'oad-ring-hit oad-ring-current', 3)
      );
    }
    for (const box of decorations.selection.slice(0, MAX_MARKS)) {
      rings.push(ring(scene, box, 'oad-ring-selected', 2));
    }
    if (decorations.cursor >= 0) {
      rings.push(ring(scene, decorations.cursor, 'oad-ring-cursor', 5));
    }
    this.wires.replaceChildren(...wires);
    this.rings.replaceChildren(...rings);
  }

  /**
   * Tensors carried by the wires of these tensors: themselves and the representatives of their series.
   */
  private _brightTensors(tensors: readonly number[]): number[] {
    const series = this.tree?.series;
    const representatives = series
      ? tensors.map(tensor => seriesRepresentative(series, tensor))
      : [];
    return [...new Set([...tensors, ...representatives])];
  }

  /**
   * Boxes at which wires of the tensors end. If a wire is replaced by connectors, both ends: the other
   * connectors and the producer.
   */
  private _endsOf(
    scene: IScene,
    links: SceneAdjacency,
    tensors: readonly number[]
  ): number[] {
    const boxes = new Set<number>();
    for (const tensor of tensors) {
      links.consumers(tensor).forEach(box => boxes.add(box));
      const ends = links.pillsOf(tensor);
      if (ends.some(box => scene.boxKind[box] === BoxKind.Stub)) {
        ends.forEach(box => boxes.add(box));
        const producer = this.tree?.model.tensorProducer[tensor] ?? -1;
        const maker = producer >= 0 ? scene.boxOf(producer) : -1;
        if (maker >= 0 && scene.boxKind[maker] !== BoxKind.OpenGroup) {
          boxes.add(maker);
        }
      }
    }
    return [...boxes].slice(0, MAX_MARKS);
  }
}

function wirePath(
  scene: IScene,
  edges: Iterable<number>,
  name: string
): SVGElement | null {
  let d = '';
  let width = 1.5;
  for (const e of edges) {
    d += edgePath(scene, e);
    width = Math.max(width, edgeWidth(scene.edgeWeight[e]) + 0.75);
  }
  if (!d) {
    return null;
  }
  const path = svgElement('path');
  path.setAttribute('class', name);
  path.setAttribute('d', d);
  path.style.strokeWidth = `${Math.max(2, width)}px`;
  return path;
}

function ring(
  scene: IScene,
  box: number,
  name: string,
  grow: number
): SVGElement {
  const kind = scene.boxKind[box];
  const rect = svgElement('rect');
  const h = scene.boxH[box];
  const pill =
    kind === BoxKind.Input || kind === BoxKind.Output || kind === BoxKind.Stub;
  const r = pill ? h / 2 : kind === BoxKind.OpenGroup ? 6 : RADIUS;
  rect.setAttribute('class', name);
  rect.setAttribute('x', String(scene.boxX[box] - grow));
  rect.setAttribute('y', String(scene.boxY[box] - grow));
  rect.setAttribute('width', String(scene.boxW[box] + 2 * grow));
  // The hover ring of an open group surrounds its title bar, not its contents.
  const title = kind === BoxKind.OpenGroup && name === 'oad-ring-hover';
  rect.setAttribute(
    'height',
    String((title ? Math.min(TITLE_BAR, h) : h) + 2 * grow)
  );
  rect.setAttribute('rx', String(r + grow));
  return rect;
}
