import { beforeAll, describe, expect, it } from 'vitest';
import {
  decodePayload,
  withMetricsOf
} from '../../../core/model/decodePayload';
import { bertPayload, resnetPayload } from '../../../core/testing/payloads';
import { Random } from '../../../core/testing/random';
import { randomPayload } from '../../../core/testing/randomPayload';
import { buildTree } from '../../../core/tree/groupTree';
import { BoxKind, type Flow, type IScene } from '../../../core/types';
import { createGraphView } from '../../../core/view/graphView';
import type { GraphPayload } from '../../../schema';
import { DEFAULT_DETAILS, DEFAULT_STRINGS } from '../surfaceApi';
import { DrawContextFactory } from '../draw/drawContextFactory';
import { SpatialIndex } from '../scene/spatialIndex';
import { WireLabels, labelsOf, shorterShapes } from './wireLabels';
import { type IWireLabel, nearestGap } from './labelSpace';
import { createSizer } from '../cards/cardSizer';
import type { IDrawContext } from '../draw/drawTarget';
import { labelFaults } from '../testing/labelFaults';
import { fromBoxes } from '../testing/scene';

const FLOWS: readonly Flow[] = ['right', 'down', 'wrapped'];

async function createDrawing(
  payload: GraphPayload,
  flow: Flow,
  pane = { w: 700, h: 560 }
): Promise<IDrawContext> {
  const model = decodePayload(payload);
  const tree = buildTree(model);
  const sizer = createSizer(model, tree);
  const view = createGraphView(tree, sizer, undefined, flow);
  const scene = await view.openInitialIn(30, flow, pane);
  return new DrawContextFactory(DEFAULT_DETAILS, DEFAULT_STRINGS).of(
    scene,
    model,
    tree
  );
}

const edgesOf = (scene: IScene): number[] =>
  Array.from({ length: scene.edgeCount }, (_, e) => e);

function placeLabels(drawing: IDrawContext): {
  labels: WireLabels;
  visible: Map<number, IWireLabel>;
} {
  const labels = new WireLabels(drawing, new SpatialIndex(drawing.scene));
  const edges = edgesOf(drawing.scene);
  labels.place(edges);
  const visible = new Map<number, IWireLabel>();
  for (const edge of edges) {
    const label = labels.of(edge);
    if (label) {
      visible.set(edge, label);
    }
  }
  return { labels, visible: visible };
}

function faultsOf(drawing: IDrawContext): object {
  const { labels, visible } = placeLabels(drawing);
  const { onBoxes, onLabels, onWires, hidden } = labelFaults(
    drawing.scene,
    visible,
    edge => labels.leastWidth(edge)
  );
  return { onBoxes, onLabels, onWires, hidden };
}

const NONE = { onBoxes: [], onLabels: [], onWires: [], hidden: [] };

/** Shapes of many lengths, with numeric and symbolic dimensions. */
function withShapes(payload: GraphPayload, random: Random): GraphPayload {
  const sizes = () =>
    random.pick([1, 3, 64, 14400, 'batch', 'sequence_length + 1', null]);
  const shapes = payload.tensors.shape.map(() =>
    random.chance(0.05)
      ? null
      : Array.from({ length: random.int(6) }, () => sizes())
  );
  const shape = payload.tensors.shape.map((_, tensor) => tensor);
  return { ...payload, shapes, tensors: { ...payload.tensors, shape } };
}

describe('edge labels', () => {
  it.each(FLOWS)(
    'overlap nothing in random graphs, and all that fit are shown, flowing %s',
    async flow => {
      let count = 0;
      for (let seed = 0; seed < 25; seed++) {
        const random = new Random(seed);
        const payload = withShapes(randomPayload(random, 60), random);
        const drawing = await createDrawing(payload, flow);
        count += placeLabels(drawing).visible.size;
        expect({ seed, ...faultsOf(drawing) }).toEqual({ seed, ...NONE });
      }
      expect(count).toBeGreaterThan(100);
    }
  );

  it.each(FLOWS)('are on the edges of models, flowing %s', async flow => {
    for (const payload of [resnetPayload(), bertPayload()]) {
      const drawing = await createDrawing(payload, flow);
      expect(faultsOf(drawing)).toEqual(NONE);
      const { scene } = drawing;
      const wires = new Set(
        edgesOf(scene).map(e => `${scene.edgeSource[e]}/${scene.edgeTensor[e]}`)
      );
      const { visible } = placeLabels(drawing);
      expect(visible.size).toBeGreaterThan(0.8 * wires.size);
      expect(visible.size).toBeLessThanOrEqual(wires.size);
    }
  });

  it('do not move when more of the graph comes into view', async () => {
    const drawing = await createDrawing(resnetPayload(), 'right');
    const labels = new WireLabels(drawing, new SpatialIndex(drawing.scene));
    const edges = edgesOf(drawing.scene);
    labels.place(edges.slice(0, 5));
    const before = edges.slice(0, 5).map(e => labels.of(e));
    labels.place(edges);
    expect(edges.slice(0, 5).map(e => labels.of(e))).toEqual(before);
  });

  it('are cached per drawing and recomputed for other dimensions', async () => {
    const drawing = await createDrawing(resnetPayload(), 'right');
    const index = new SpatialIndex(drawing.scene);
    const labels = labelsOf(drawing, index);
    expect(labelsOf(drawing, index)).toBe(labels);
    expect(labels.matches({ ...drawing })).toBe(true);
    const model = withMetricsOf(drawing.model, drawing.model.payload);
    expect(labels.matches({ ...drawing, model })).toBe(false);
  });
});

describe('label of one edge', () => {
  let base: IDrawContext;
  beforeAll(async () => {
    base = await createDrawing(resnetPayload(), 'right');
  });

  /** Two cards at the given horizontal and vertical distance, with other boxes; y is offset by 200. */
  function between(
    gap: number,
    shape: GraphPayload['shapes'][number],
    more: readonly [x: number, y: number, w: number, h: number][] = []
  ): IWireLabel | null {
    const cards = [[0, 0, 100, 50], [100 + gap, 0, 100, 50], ...more];
    const boxes = cards.map(([x, y, w, h], entity) => ({
      kind: BoxKind.Node,
      entity,
      x,
      y: y + 200,
      w,
      h,
      depth: 0,
      parent: -1
    }));
    const scene = fromBoxes(
      boxes,
      [{ source: 0, target: 1, tensor: 0 }],
      entity => entity
    );
    const { payload } = base.model;
    const tensors = { ...payload.tensors, shape: [0] };
    const model = withMetricsOf(base.model, {
      ...payload,
      shapes: [shape],
      tensors
    });
    return placeLabels({ ...base, scene, model }).visible.get(0) ?? null;
  }

  it('is above its middle', () => {
    expect(between(100, [1, 64, 56, 56])).toMatchObject({
      x: 150,
      y: 221,
      text: '1×64×56×56'
    });
  });

  it('is below if something is above', () => {
    const label = between(100, [1, 64, 56, 56], [[105, 0, 90, 22]]);
    expect(label).toMatchObject({ text: '1×64×56×56' });
    expect(label!.y).toBeGreaterThan(230);
  });

  it('is at the free end', () => {
    const label = between(
      200,
      [1, 64, 56, 56],
      [
        [100, 0, 90, 22],
        [100, 28, 120, 22]
      ]
    );
    expect(label!.x).toBeGreaterThanOrEqual(220);
    expect(label!.y).toBe(221);
  });

  it('is shorter with less room, then its rank, then omitted', () => {
    expect(between(56, [1, 64, 56, 56])?.text).toBe('64×56×56');
    expect(between(66, ['batch', 64, 56, 56])?.text).toBe('…×64×56×56');
    expect(between(30, [1, 64, 56, 56])?.text).toBe('4-D');
    expect(between(8, [1, 64, 56, 56])).toBeNull();
  });
});

describe('shorter shapes', () => {
  it('omit the first dimension, then all of them', () => {
    expect(shorterShapes([1, 64, 56, 56])).toEqual(['64×56×56', '4-D']);
    expect(shorterShapes(['batch', 'a×b', null])).toEqual(['…×a×b×?', '3-D']);
    expect(shorterShapes([1, 1000])).toEqual(['2-D']);
    expect(shorterShapes([7])).toEqual([]);
    expect(shorterShapes([])).toEqual([]);
    expect(shorterShapes(null)).toEqual([]);
  });
});

describe('nearestGap', () => {
  it('finds the nearest free position', () => {
    const spans = [
      [10, 20],
      [24, 30]
    ] as const;
    expect(nearestGap([], 4, 15, 0, 40)).toBe(15);
    expect(nearestGap(spans, 4, 16, 0, 40)).toBe(22);
    expect(nearestGap(spans, 6, 15, 0, 40)).toBe(7);
    expect(nearestGap(spans, 6, 15, 8, 40)).toBe(33);
    expect(nearestGap(spans, 6, 15, 8, 30)).toBeNull();
    expect(nearestGap([], 6, 15, 8, 7)).toBeNull();
  });

  it('overlaps no span and is the nearest in random rows', () => {
    for (let seed = 0; seed < 300; seed++) {
      const random = new Random(seed);
      const spans = Array.from({ length: random.int(8) }, () => {
        const from = random.int(100);
        return [from, from + 1 + random.int(20)] as const;
      });
      const [length, prefer] = [1 + random.int(12), random.int(110)];
      const free = (center: number): boolean =>
        spans.every(
          ([from, to]) =>
            center + length / 2 <= from || center - length / 2 >= to
        );
      const center = nearestGap(spans, length, prefer, 0, 110);
      expect(center === null || free(center)).toBe(true);
      const least = center === null ? Infinity : Math.abs(center - prefer);
      for (let center = 0; center <= 110; center += 0.5) {
        expect(free(center) && Math.abs(center - prefer) < least - 1e-9).toBe(
          false
        );
      }
    }
  });
});
