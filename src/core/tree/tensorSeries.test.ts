import { describe, expect, it } from 'vitest';
import type { DimValue } from '../../schema';
import { decodePayload } from '../model/decodePayload';
import {
  seriesRepresentative,
  pillTensorRef,
  pillText,
  tensorIdsOf,
  wireTensorRef
} from './tensorSeries';
import { PayloadBuilder } from '../testing/builder';
import { buildTree } from './groupTree';
import { createGraphView } from '../view/graphView';
import { BoxKind, type IScene } from '../types';
import { computeTraceHighlight } from '../trace/traceHighlight';
import { collectDescendants } from '../trace/dataflowTrace';

/** A model with inputs of these names and shapes, all read by one node. */
function withInputs(inputs: readonly (readonly [string, DimValue[]])[]) {
  const b = new PayloadBuilder();
  const tensors = inputs.map(([name, shape]) => b.input(name, shape));
  const [y] = b.add('Concat', tensors);
  b.output(y);
  return buildTree(decodePayload(b.finish()));
}

const named = (...names: string[]) =>
  withInputs(names.map(name => [name, [1, 16]]));

function pills(scene: IScene, kind: BoxKind): number[] {
  return [...scene.boxEntity].filter((_, b) => scene.boxKind[b] === kind);
}

describe('inputs whose names differ in numbers', () => {
  it('are a series from three members on', () => {
    const two = named('past.0.key', 'past.1.key');
    expect(two.series.size).toBe(0);
    const three = named('past.0.key', 'past.1.key', 'past.10.key', 'mask');
    expect(three.series.size).toBe(3);
    expect(pillText(three, 1)).toBe('past.#.key ×3');
    expect(pillText(three, 3)).toBe('mask');
    expect(seriesRepresentative(three.series, 2)).toBe(0);
    expect(seriesRepresentative(three.series, 3)).toBe(3);
  });

  it('are separated by other parts of their names', () => {
    const tree = named('a.0.k', 'a.1.k', 'a.2.k', 'a.0.v', 'a.1.v', 'a.2.v');
    expect(pillText(tree, 0)).toBe('a.#.k ×3');
    expect(pillText(tree, 5)).toBe('a.#.v ×3');
    expect(named('a', 'b', 'c').series.size).toBe(0);
  });

  it('have the same shape, up to numbered symbolic dimensions', () => {
    const sizes = withInputs([
      ['x0', [1, 16]],
      ['x1', [1, 16]],
      ['x2', [1, 17]]
    ]);
    expect(sizes.series.size).toBe(0);
    const symbols = withInputs([
      ['x0', ['s1', 16]],
      ['x1', ['s2', 16]],
      ['x2', ['s33', 16]]
    ]);
    expect(symbols.series.size).toBe(3);
  });

  it('have the same element type', () => {
    const b = new PayloadBuilder();
    const inputs = ['x0', 'x1', 'x2'].map(name => b.input(name));
    b.output(b.add('Concat', inputs)[0]);
    const payload = b.finish();
    payload.dtypes = [...payload.dtypes, 'other'];
    payload.tensors.dtype[inputs[2]] = payload.dtypes.length - 1;
    expect(buildTree(decodePayload(payload)).series.size).toBe(0);
  });

  it('accept any name', () => {
    const names = [1, 2, 3].map(
      i => `<img src=x onerror=alert(${i})> __proto__`
    );
    const tree = named(...names, 'constructor', '', '0', '1', '2');
    expect(pillText(tree, 0)).toBe('<img src=x onerror=alert(#)> __proto__ ×3');
    expect(pillText(tree, 6)).toBe('# ×3');
    expect(tree.series.has(3)).toBe(false);
  });
});

describe('outputs whose names differ in numbers', () => {
  function layers(alsoRead: boolean) {
    const b = new PayloadBuilder();
    let x = b.input('ids');
    const outputs: number[] = [];
    for (let i = 0; i < 4; i++) {
      [x] = b.add('Concat', [x], { scope: ['model', `layer.${i}`] });
      outputs.push(x);
      b.output(x);
      [x] = b.add('Relu', [x], { scope: ['model', `layer.${i}`] });
    }
    if (alsoRead) {
      [x] = b.add('Add', [x, ...outputs], { scope: ['head'] });
    }
    b.output(x);
    const payload = b.finish();
    outputs.forEach((tensor, i) => {
      payload.tensors.name[tensor] = `present.${i}`;
    });
    return { tree: buildTree(decodePayload(payload)), outputs };
  }

  it('are a series if only their own block reads them', () => {
    const { tree, outputs } = layers(false);
    expect(tree.series.get(outputs[3])).toMatchObject({
      kind: 'output',
      pattern: 'present.#',
      members: outputs
    });
    expect(layers(true).tree.series.size).toBe(0);
  });

  it('share one pill whatever is expanded, and a trace highlights it', async () => {
    const { tree, outputs } = layers(false);
    const sizer = {
      node: () => ({ w: 80, h: 40 }),
      group: () => ({ w: 120, h: 50 }),
      pill: (text: string) => ({ w: 8 * text.length, h: 20 }),
      title: () => 90
    };
    const view = createGraphView(tree, sizer);
    await view.openInitial(1);
    const closed = view.scene;
    const wide = closed.boxKind.findIndex(
      (kind, b) => kind === BoxKind.Output && closed.boxEntity[b] === outputs[0]
    );
    expect(closed.boxW[wide]).toBe(8 * 'present.# ×4'.length);
    const open = await view.expandAll(Infinity);
    for (const scene of [closed, open]) {
      expect(
        pills(scene, BoxKind.Output).filter(t => t === outputs[0])
      ).toEqual([outputs[0]]);
      expect(pills(scene, BoxKind.Output)).toHaveLength(2);
    }
    const open3 = [...open.edgeTensor].filter(t => outputs.includes(t));
    expect(new Set(open3)).toEqual(new Set(outputs));
    // From the third layer on.
    const start = tree.model.tensorProducer[outputs[2]];
    const highlight = computeTraceHighlight(
      tree,
      open,
      collectDescendants(tree, { nodes: [start], tensors: [] })
    );
    const pill = open.boxEntity.findIndex(
      (t, b) => t === outputs[0] && open.boxKind[b] === BoxKind.Output
    );
    expect(highlight.boxes[pill]).toBe(1);
  });
});

describe('tensors of pills and edges', () => {
  it('are a series or one tensor', () => {
    const { series } = named('past.0.key', 'past.1.key', 'past.2.key', 'mask');
    expect(pillTensorRef(series, 2)).toEqual({ kind: 'series', id: 0 });
    expect(pillTensorRef(series, 3)).toEqual({ kind: 'tensor', id: 3 });
    expect(tensorIdsOf(series, { kind: 'series', id: 0 })).toEqual([0, 1, 2]);
    expect(tensorIdsOf(series, { kind: 'tensor', id: 0 })).toEqual([0]);
    expect(tensorIdsOf(series, { kind: 'node', id: 0 })).toEqual([]);
    expect(tensorIdsOf(series, { kind: 'none' })).toEqual([]);
    expect(tensorIdsOf(series, null)).toEqual([]);
    // A series of another model: only its first member is left.
    expect(tensorIdsOf(new Map(), { kind: 'series', id: 7 })).toEqual([7]);
  });

  it('are all of a series for an edge that carries several', () => {
    const { series } = named('past.0.key', 'past.1.key', 'past.2.key', 'mask');
    const scene = {
      edgeTensor: Int32Array.of(0, 0, 1, 3),
      edgeWeight: Int32Array.of(3, 1, 1, 2)
    };
    const refs = [0, 1, 2, 3].map(e => wireTensorRef(scene, series, e));
    expect(refs).toEqual([
      { kind: 'series', id: 0 },
      { kind: 'tensor', id: 0 },
      { kind: 'tensor', id: 1 },
      { kind: 'tensor', id: 3 }
    ]);
  });
});
