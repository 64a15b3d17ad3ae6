/**
 * A plain layout for tests and benchmarks of drawing: columns by longest path, boxes stacked in a
 * column, open groups around their children. The product's layout is in `core/layout`.
 */
import {
  BoxKind,
  type IScene,
  type ISizer,
  type ITree
} from '../../../core/types';

interface IBox {
  kind: BoxKind;
  entity: number;
  x: number;
  y: number;
  w: number;
  h: number;
  depth: number;
  parent: number;
}

interface ILink {
  source: number;
  target: number;
  tensor: number;
}

const GAP_X = 76;
const GAP_Y = 22;
const PAD = 18;
const TITLE = 30;

/** Lays out what is visible when the groups in `open` are open. */
export function plainScene(
  tree: ITree,
  sizer: ISizer,
  open: ReadonlySet<number>
): IScene {
  return new PlainLayout(tree, sizer, open).run();
}

class PlainLayout {
  private readonly boxes: IBox[] = [];
  private readonly links: ILink[] = [];
  private readonly boxOfEntity = new Map<number, number>();

  constructor(
    private readonly tree: ITree,
    private readonly sizer: ISizer,
    private readonly open: ReadonlySet<number>
  ) {}

  run(): IScene {
    const { model } = this.tree;
    const size = this.level(-1, 0, -1, PAD, PAD);
    const inputs = new Map<number, number>();
    model.payload.tensors.inputs.forEach((tensor, i) => {
      inputs.set(tensor, this.pill(BoxKind.Input, tensor, i));
    });
    this.connect(inputs);
    model.payload.tensors.outputs.forEach((tensor, i) => {
      const box = this.pill(BoxKind.Output, tensor, i, size.w);
      const producer = model.tensorProducer[tensor];
      this.links.push({ source: this.shown(producer), target: box, tensor });
    });
    return this.finish();
  }

  /** Places the children of a group from a corner and returns the size they take. */
  private level(
    group: number,
    depth: number,
    parent: number,
    x0: number,
    y0: number
  ): { w: number; h: number } {
    const children = this.tree.children[group + 1];
    const { nodeCount } = this.tree.model;
    const rank = this.ranks(children);
    const columns: number[][] = [];
    children.forEach((entity, i) => (columns[rank[i]] ??= []).push(entity));
    let x = x0;
    let tallest = 0;
    const placed: { boxes: number[]; height: number }[] = [];
    for (const column of columns) {
      let y = y0;
      let widest = 0;
      const here: number[] = [];
      for (const entity of column) {
        const g = entity - nodeCount;
        const isOpen = g >= 0 && this.open.has(g);
        const kind =
          g < 0 ? BoxKind.Node : isOpen ? BoxKind.OpenGroup : BoxKind.Group;
        const card = g < 0 ? this.sizer.node(entity) : this.sizer.group(g);
        const box = this.boxes.length;
        this.boxes.push({ kind, entity, x, y, ...card, depth, parent });
        this.boxOfEntity.set(entity, box);
        if (isOpen) {
          const inner = this.level(g, depth + 1, box, x + PAD, y + TITLE + 8);
          this.boxes[box].w = inner.w + 2 * PAD;
          this.boxes[box].h = inner.h + TITLE + 8 + PAD;
        }
        here.push(box);
        y += this.boxes[box].h + GAP_Y;
        widest = Math.max(widest, this.boxes[box].w);
      }
      placed.push({ boxes: here, height: y - GAP_Y - y0 });
      tallest = Math.max(tallest, y - GAP_Y - y0);
      x += widest + GAP_X;
    }
    for (const { boxes, height } of placed) {
      boxes.forEach(b => this.shift(b, (tallest - height) / 2));
    }
    return { w: Math.max(0, x - GAP_X - x0), h: tallest };
  }

  private shift(box: number, dy: number): void {
    if (dy === 0) {
      return;
    }
    const inside = new Set([box]);
    this.boxes[box].y += dy;
    for (let b = box + 1; b < this.boxes.length; b++) {
      if (inside.has(this.boxes[b].parent)) {
        inside.add(b);
        this.boxes[b].y += dy;
      }
    }
  }

  /** Longest path within one level; node ids are in topological order. */
  private ranks(children: Int32Array): number[] {
    const { model } = this.tree;
    const place = new Map<number, number>();
    children.forEach((entity, i) => place.set(entity, i));
    const rank = Array.from(children, () => 0);
    for (let node = 0; node < model.nodeCount; node++) {
      const to = this.within(node, place);
      for (
        let k = model.inputOffsets[node];
        to !== undefined && k < model.inputOffsets[node + 1];
        k++
      ) {
        const producer = model.tensorProducer[model.inputs[k]];
        const from = producer >= 0 ? this.within(producer, place) : undefined;
        if (from !== undefined && from !== to) {
          rank[to] = Math.max(rank[to], rank[from] + 1);
        }
      }
    }
    return rank;
  }

  private within(
    node: number,
    place: ReadonlyMap<number, number>
  ): number | undefined {
    let at = place.get(node);
    for (
      let g = this.tree.nodeParent[node];
      at === undefined && g >= 0;
      g = this.tree.groupParent[g]
    ) {
      at = place.get(this.tree.model.nodeCount + g);
    }
    return at;
  }

  /** The node's box or that of the closest group that hides it. */
  private shown(node: number): number {
    let box = this.boxOfEntity.get(node);
    for (
      let g = this.tree.nodeParent[node];
      box === undefined && g >= 0;
      g = this.tree.groupParent[g]
    ) {
      box = this.boxOfEntity.get(this.tree.model.nodeCount + g);
    }
    return box ?? -1;
  }

  private connect(inputs: ReadonlyMap<number, number>): void {
    const { model } = this.tree;
    const seen = new Set<string>();
    for (let node = 0; node < model.nodeCount; node++) {
      const target = this.shown(node);
      for (
        let k = model.inputOffsets[node];
        k < model.inputOffsets[node + 1];
        k++
      ) {
        const tensor = model.inputs[k];
        const producer = model.tensorProducer[tensor];
        const source =
          producer >= 0 ? this.shown(producer) : (inputs.get(tensor) ?? -1);
        const key = `${source}/${target}/${tensor}`;
        if (source >= 0 && source !== target && !seen.has(key)) {
          seen.add(key);
          this.links.push({ source, target, tensor });
        }
      }
    }
  }

  private pill(kind: BoxKind, tensor: number, row: number, x = NaN): number {
    const size = this.sizer.pill(this.tree.model.tensorName(tensor));
    const at = Number.isNaN(x) ? -size.w - GAP_X : x + PAD + GAP_X;
    const middle = Math.max(...this.boxes.map(b => b.y + b.h)) / 2;
    this.boxes.push({
      kind,
      entity: tensor,
      x: at,
      y: middle - 13 + row * 60,
      ...size,
      depth: 0,
      parent: -1
    });
    return this.boxes.length - 1;
  }

  private finish(): IScene {
    const left = Math.min(...this.boxes.map(b => b.x)) - PAD;
    this.boxes.forEach(b => (b.x -= left));
    const { nodeCount } = this.tree.model;
    const groupParent = this.tree.groupParent;
    const nodeParent = this.tree.nodeParent;
    const find = this.boxOfEntity;
    return fromBoxes(this.boxes, this.links, entity => {
      let at = entity;
      for (;;) {
        const box = find.get(at);
        if (box !== undefined) {
          return box;
        }
        const parent =
          at < nodeCount ? nodeParent[at] : groupParent[at - nodeCount];
        if (parent === undefined || parent < 0) {
          return -1;
        }
        at = nodeCount + parent;
      }
    });
  }
}

let version = 0;

/** A scene of given boxes; edges leave at the right and enter at the left, spread over the side. */
export function fromBoxes(
  boxes: readonly IBox[],
  links: readonly ILink[],
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
    const at = (list.indexOf(e) + 1) / (list.length + 1);
    points.set(
      [
        a.x + a.w,
        a.y + Math.min(a.h, 200) / 2,
        b.x,
        b.y + Math.min(b.h, 200) * at
      ],
      4 * e
    );
  });
  const column = (f: (b: IBox) => number): Float64Array =>
    Float64Array.from(boxes, f);
  return {
    version: ++version,
    direction: 'right',
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
