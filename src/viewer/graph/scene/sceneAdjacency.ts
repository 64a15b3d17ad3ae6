/** Edges by box and by tensor, and keyboard navigation between boxes. */
import { indexBy, type ICsrRows } from '../../../core/base/csr';
import { BoxKind, type IScene } from '../../../core/types';

export type Direction = 'left' | 'right' | 'up' | 'down';

/** More hops over ports indicate a broken scene rather than a long wire. */
const MAX_HOPS = 64;

export class SceneAdjacency {
  private readonly _out: ICsrRows;
  private readonly _in: ICsrRows;
  private readonly _carriers = new Map<number, number[]>();
  private readonly _marks = new Map<number, number[]>();

  constructor(private readonly _scene: IScene) {
    this._out = indexBy(_scene.boxCount, _scene.edgeSource);
    this._in = indexBy(_scene.boxCount, _scene.edgeTarget);
    for (let e = 0; e < _scene.edgeCount; e++) {
      append(this._carriers, _scene.edgeTensor[e], e);
    }
    for (let b = 0; b < _scene.boxCount; b++) {
      const kind = _scene.boxKind[b];
      if (kind > BoxKind.OpenGroup && kind !== BoxKind.Port) {
        append(this._marks, _scene.boxEntity[b], b);
      }
    }
  }

  outgoing(box: number): Int32Array {
    return row(this._out, box);
  }

  incoming(box: number): Int32Array {
    return row(this._in, box);
  }

  /** Edges that carry the tensor. */
  edgesOf(tensor: number): readonly number[] {
    return this._carriers.get(tensor) ?? [];
  }

  /** Boxes at which the tensor's edges end, looking through ports. */
  consumers(tensor: number): number[] {
    const ends = this.edgesOf(tensor).map(e => this._scene.edgeTarget[e]);
    return [...new Set(ends)].filter(
      b => this._scene.boxKind[b] !== BoxKind.Port
    );
  }

  /** Connectors and pills of the tensor; a pill carries the first member of its series. */
  pillsOf(tensor: number): readonly number[] {
    return this._marks.get(tensor) ?? [];
  }

  /**
   * The leftmost or rightmost box, the topmost within a column; -1 if there is none. In rows, the
   * leftmost of the first row or the rightmost of the last.
   */
  outermostBox(last: boolean): number {
    const { _scene: scene } = this;
    if (scene.inRows) {
      return this._cornerOf(last);
    }
    let best = -1;
    let least = Infinity;
    for (let b = 0; b < scene.boxCount; b++) {
      if (walkable(scene, b) && scene.boxKind[b] !== BoxKind.OpenGroup) {
        const middle = Math.round(scene.boxX[b] + scene.boxW[b] / 2);
        const along = last ? -middle : middle;
        if (
          along < least ||
          (along === least && scene.boxY[b] < scene.boxY[best])
        ) {
          least = along;
          best = b;
        }
      }
    }
    return best;
  }

  /**
   * The next box in a screen direction: along an edge if there is one, else the nearest in that
   * direction.
   */
  neighbourIn(from: number, direction: Direction): number {
    const { _scene: scene } = this;
    const down = scene.direction === 'down';
    const forward = direction === (down ? 'down' : 'right');
    if (!forward && direction !== (down ? 'up' : 'left')) {
      return this._nearest(from, direction);
    }
    const across = (box: number): number =>
      down ? middle(scene, box).x : middle(scene, box).y;
    const ends = this._reach(from, forward);
    const neighbour = across(from);
    let best = -1;
    let distance = Infinity;
    for (const box of ends) {
      const d = Math.abs(across(box) - neighbour);
      if (d < distance) {
        distance = d;
        best = box;
      }
    }
    return best >= 0 ? best : this._nearest(from, direction);
  }

  /** The first card of the first row, or the last card of the last row. */
  private _cornerOf(last: boolean): number {
    const { _scene: scene } = this;
    const { boxX, boxY, boxW, boxH } = scene;
    let best = -1;
    for (let b = 0; b < scene.boxCount; b++) {
      if (!walkable(scene, b) || scene.boxKind[b] === BoxKind.OpenGroup) {
        continue;
      }
      const above = best >= 0 && boxY[b] + boxH[b] <= boxY[best];
      const below = best >= 0 && boxY[b] >= boxY[best] + boxH[best];
      const right = best >= 0 && boxX[b] + boxW[b] > boxX[best] + boxW[best];
      const overlaps = !above && !below;
      if (
        best < 0 ||
        (last ? below || (overlaps && right) : above || (overlaps && !right))
      ) {
        best = b;
      }
    }
    return best;
  }

  /** Boxes at the other end of the edges, looking through ports. */
  private _reach(from: number, forward: boolean): number[] {
    const { _scene: scene } = this;
    const boxes: number[] = [];
    const visited = new Set<number>([from]);
    let front = [from];
    for (let hop = 0; hop < MAX_HOPS && front.length > 0; hop++) {
      const next: number[] = [];
      for (const box of front) {
        const edges = forward ? this.outgoing(box) : this.incoming(box);
        for (const e of edges) {
          const end = forward ? scene.edgeTarget[e] : scene.edgeSource[e];
          if (!visited.has(end)) {
            visited.add(end);
            (scene.boxKind[end] === BoxKind.Port ? next : boxes).push(end);
          }
        }
      }
      front = next;
    }
    return boxes;
  }

  /** The nearest box whose centre lies in that direction, preferring boxes straight ahead. */
  private _nearest(from: number, direction: Direction): number {
    const { _scene: scene } = this;
    const a = middle(scene, from);
    let best = -1;
    let least = Infinity;
    for (let b = 0; b < scene.boxCount; b++) {
      if (b === from || !walkable(scene, b)) {
        continue;
      }
      const m = middle(scene, b);
      const [forwardDistance, sideDistance] = along(
        direction,
        m.x - a.x,
        m.y - a.y
      );
      if (forwardDistance > 1) {
        const cost = forwardDistance + 2 * Math.abs(sideDistance);
        if (cost < least) {
          least = cost;
          best = b;
        }
      }
    }
    return best;
  }
}

function append(lists: Map<number, number[]>, key: number, item: number): void {
  const list = lists.get(key);
  if (list) {
    list.push(item);
  } else {
    lists.set(key, [item]);
  }
}

/** True for boxes that keyboard navigation stops at: all except ports. */
function walkable(scene: IScene, box: number): boolean {
  return scene.boxKind[box] !== BoxKind.Port;
}

function along(direction: Direction, dx: number, dy: number): [number, number] {
  switch (direction) {
    case 'left':
      return [-dx, dy];
    case 'right':
      return [dx, dy];
    case 'up':
      return [-dy, dx];
    default:
      return [dy, dx];
  }
}

/** Centre of a box; for an open group, the left end of its title bar. */
function middle(scene: IScene, box: number): { x: number; y: number } {
  if (scene.boxKind[box] === BoxKind.OpenGroup) {
    return { x: scene.boxX[box] + 60, y: scene.boxY[box] + 14 };
  }
  return {
    x: scene.boxX[box] + scene.boxW[box] / 2,
    y: scene.boxY[box] + scene.boxH[box] / 2
  };
}

function row(rows: ICsrRows, i: number): Int32Array {
  return rows.values.subarray(rows.offsets[i], rows.offsets[i + 1]);
}
