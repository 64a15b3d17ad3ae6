/** Handmade scenes for drawing tests. */
import type { BoxKind, IScene } from '../../../core/types';

interface ITestBox {
  kind: BoxKind;
  entity: number;
  x: number;
  y: number;
  w: number;
  h: number;
  depth: number;
  parent: number;
}

interface ITestLink {
  source: number;
  target: number;
  tensor: number;
}

const PAD = 18;
let version = 0;

/** A scene of the given boxes; edges leave on the right and enter on the left, spread over the side. */
export function fromBoxes(
  boxes: readonly ITestBox[],
  links: readonly ITestLink[],
  boxOf: (entity: number) => number
): IScene {
  const points = new Float64Array(4 * links.length);
  const arrivals = new Map<number, number[]>();
  links.forEach((link, e) =>
    arrivals.set(link.target, [...(arrivals.get(link.target) ?? []), e])
  );
  links.forEach((link, e) => {
    const a = boxes[link.source];
    const b = boxes[link.target];
    const list = arrivals.get(link.target) ?? [];
    const share = (list.indexOf(e) + 1) / (list.length + 1);
    points.set(
      [
        a.x + a.w,
        a.y + Math.min(a.h, 200) / 2,
        b.x,
        b.y + Math.min(b.h, 200) * share
      ],
      4 * e
    );
  });
  const column = (f: (b: ITestBox) => number): Float64Array =>
    Float64Array.from(boxes, f);
  return {
    version: ++version,
    direction: 'right',
    inRows: false,
    width: Math.max(...boxes.map(b => b.x + b.w)) + PAD,
    height: Math.max(...boxes.map(b => b.y + b.h)) + PAD,
    boxCount: boxes.length,
    boxKind: Uint8Array.from(boxes, b => b.kind),
    boxEntity: Int32Array.from(boxes, b => b.entity),
    boxX: column(b => b.x),
    boxY: column(b => b.y),
    boxW: column(b => b.w),
    boxH: column(b => b.h),
    boxDepth: Uint8Array.from(boxes, b => b.depth),
    boxParent: Int32Array.from(boxes, b => b.parent),
    edgeCount: links.length,
    edgeSource: Int32Array.from(links, l => l.source),
    edgeTarget: Int32Array.from(links, l => l.target),
    edgeTensor: Int32Array.from(links, l => l.tensor),
    edgeWeight: new Int32Array(links.length).fill(1),
    edgeOffsets: Int32Array.from({ length: links.length + 1 }, (_, i) => 2 * i),
    edgePoints: points,
    boxOf
  };
}
