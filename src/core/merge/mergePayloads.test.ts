import { describe, expect, test } from 'vitest';
import type { GraphPayload } from '../../schema';
import { Changes, type IAlignmentColumns } from '../matching/alignmentChanges';
import { mergePayloads, type IMergedPayload } from './mergePayloads';
import { mergeOrder } from './mergeOrder';
import { sceneWires, WIRE } from './mergedWires';
import { decodePayload, TENSOR_KIND } from '../model/decodePayload';
import { PayloadBuilder } from '../testing/builder';
import { Random } from '../testing/random';
import { buildTree } from '../tree/groupTree';
import { createGraphView } from '../view/graphView';

/** A chain of these operators, each in the scope of the same index. */
function chain(
  ops: readonly string[],
  scopes: readonly string[]
): GraphPayload {
  const builder = new PayloadBuilder();
  let tensor = builder.input('x');
  ops.forEach((op, index) => {
    const inputs = [tensor, builder.weight(`${op}${index}.w`, [4])];
    [tensor] = builder.add(op, inputs, { scope: [scopes[index]] });
  });
  builder.output(tensor);
  return builder.finish();
}

function alignment(left: number[], right: number[]): IAlignmentColumns {
  const count = Math.max(...left, ...right) + 1;
  const pairs = Array.from({ length: count }, (_, pair) => pair);
  return {
    left,
    right,
    kinds: ['precision'],
    changes: pairs.map(() => 0),
    main_left: pairs.map(pair => left.indexOf(pair)),
    main_right: pairs.map(pair => right.indexOf(pair))
  };
}

const types = (payload: GraphPayload): string[] =>
  payload.nodes.op.map(op => payload.ops[op].type);

/** Wires as `from → to`, by node name. */
function wires(payload: GraphPayload): string[] {
  const { nodes, tensors } = payload;
  return nodes.name.flatMap((name, node) =>
    nodes.inputs
      .slice(nodes.input_offsets[node], nodes.input_offsets[node + 1])
      .map(tensor => tensors.producer[tensor] ?? -1)
      .filter(producer => producer >= 0)
      .map(producer => `${nodes.name[producer]} → ${name}`)
  );
}

/** What nodes read, as `from → to side`. */
function sides({ payload, wire }: IMergedPayload): string[] {
  const { nodes, tensors } = payload;
  const names = Object.keys(WIRE);
  return nodes.name
    .flatMap((name, node) =>
      nodes.inputs
        .slice(nodes.input_offsets[node], nodes.input_offsets[node + 1])
        .filter(tensor => tensors.kind[tensor] !== TENSOR_KIND.initializer)
        .map(tensor => {
          const producer = tensors.producer[tensor];
          const from =
            producer >= 0 ? nodes.name[producer] : tensors.name[tensor];
          return `${from} → ${name} ${names[wire(node, tensor)]}`;
        })
    )
    .sort();
}

/** Wires between pairs, as `pair pair`, each with its side. */
function pairWires({
  payload,
  alignment,
  wire
}: IMergedPayload): [string, number][] {
  const { nodes, tensors } = payload;
  return nodes.op.flatMap((_, node) =>
    nodes.inputs
      .slice(nodes.input_offsets[node], nodes.input_offsets[node + 1])
      .filter(tensor => tensors.producer[tensor] >= 0)
      .map((tensor): [string, number] => {
        const from = alignment.left[tensors.producer[tensor]];
        return [`${from} ${alignment.left[node]}`, wire(node, tensor)];
      })
      .filter(([key]) => !key.includes('-'))
  );
}

describe('merged graph of two models', () => {
  const a = chain(['Conv', 'Relu', 'Gemm'], ['one', 'one', 'two']);
  const b = chain(['Conv', 'Sin', 'Relu', 'Gemm'], ['p', 'new', 'p', 'q']);

  test('has added nodes between the counterparts, in their own box', () => {
    const merged = mergePayloads(
      a,
      b,
      alignment([0, 1, 2], [0, -1, 1, 2]),
      'both'
    );
    expect(types(merged.payload)).toEqual(['Conv', 'Sin', 'Relu', 'Gemm']);
    expect([...merged.side]).toEqual([0, 1, 0, 0]);
    expect([...merged.node]).toEqual([0, 1, 1, 2]);
    expect(wires(merged.payload).sort()).toEqual([
      'Conv_0 → Relu_1',
      'Conv_0 → Sin_1',
      'Relu_1 → Gemm_2',
      'Sin_1 → Relu_1'
    ]);
    const tree = buildTree(decodePayload(merged.payload));
    expect(merged.payload.scopes.label).toEqual(['one', 'two', 'new']);
    expect(tree.nodeOrder.length).toBe(4);
    const changes = new Changes(merged.alignment, [tree, tree]);
    expect([0, 1, 2, 3].map(node => changes.state(0, node))).toEqual([
      'same',
      'only',
      'same',
      'same'
    ]);
  });

  test('does not merge a repeat of two with one of its instances', () => {
    const layers = (scopes: (layer: string) => string[], extra: string[]) => {
      const builder = new PayloadBuilder();
      let tensor = builder.input('x');
      for (const layer of ['layer.0', 'layer.1']) {
        for (const op of ['MatMul', 'Relu', ...extra]) {
          [tensor] = builder.add(op, [tensor], { scope: scopes(layer) });
        }
      }
      builder.output(tensor);
      return builder.finish();
    };
    const left = layers(layer => ['encoder', layer], []);
    const right = layers(
      layer => ['encoder', 'layer ×2::repeat', layer],
      ['IsNaN']
    );
    const { payload } = mergePayloads(
      left,
      right,
      alignment([0, 1, 2, 3], [0, 1, -1, 2, 3, -1]),
      'both'
    );
    const added = payload.nodes.op.flatMap((op, node) =>
      payload.ops[op].type === 'IsNaN' ? [payload.nodes.scope[node]] : []
    );
    expect(added.map(scope => payload.scopes.label[scope])).toEqual([
      'layer.0',
      'layer.1'
    ]);
  });

  test('keeps removed nodes and adds the edge that bypasses them', () => {
    const merged = mergePayloads(
      b,
      a,
      alignment([0, -1, 1, 2], [0, 1, 2]),
      'both'
    );
    expect(types(merged.payload)).toEqual(['Conv', 'Sin', 'Relu', 'Gemm']);
    expect([...merged.side]).toEqual([0, 0, 0, 0]);
    expect(wires(merged.payload)).toContain('Conv_0 → Relu_2');
  });

  test('marks edges that only one model has', () => {
    const merged = mergePayloads(
      a,
      b,
      alignment([0, 1, 2], [0, -1, 1, 2]),
      'both'
    );
    expect(sides(merged)).toEqual([
      'Conv_0 → Relu_1 removed',
      'Conv_0 → Sin_1 added',
      'Relu_1 → Gemm_2 both',
      'Sin_1 → Relu_1 added',
      'x → Conv_0 both'
    ]);
    const reversed = mergePayloads(
      b,
      a,
      alignment([0, -1, 1, 2], [0, 1, 2]),
      'both'
    );
    expect(sides(reversed)).toEqual([
      'Conv_0 → Relu_2 added',
      'Conv_0 → Sin_1 removed',
      'Relu_2 → Gemm_3 both',
      'Sin_1 → Relu_2 removed',
      'x → Conv_0 both'
    ]);
  });

  test('marks a changed source, a new input and a new output', () => {
    const graph = (other: boolean): GraphPayload => {
      const builder = new PayloadBuilder();
      const x = builder.input('x');
      const [output] = builder.add('Relu', [x]);
      const [two] = builder.add('Exp', [output]);
      const inputs = other ? [two, builder.input('mask')] : [output, two];
      const [sum] = builder.add('Concat', inputs);
      builder.output(sum);
      if (other) {
        builder.output(output);
      }
      return builder.finish();
    };
    const columns = alignment([0, 1, 2], [0, 1, 2]);
    const merged = mergePayloads(graph(false), graph(true), columns, 'both');
    expect(sides(merged)).toEqual([
      'Exp_1 → Concat_2 both',
      'Relu_0 → Concat_2 removed',
      'Relu_0 → Exp_1 both',
      'mask → Concat_2 added',
      'x → Relu_0 both'
    ]);
    const { outputs } = merged.payload.tensors;
    const count = merged.payload.nodes.op.length;
    expect(outputs.map(tensor => merged.wire(count, tensor))).toEqual([
      WIRE.both,
      WIRE.added
    ]);
    const reversed = mergePayloads(graph(true), graph(false), columns, 'both');
    expect(
      reversed.payload.tensors.outputs.map(tensor =>
        reversed.wire(count, tensor)
      )
    ).toEqual([WIRE.both, WIRE.removed]);
    expect(sides(reversed)).toContain('mask → Concat_2 removed');
  });

  test('gives the edges of a scene the side of their links, also inside groups', async () => {
    const merged = mergePayloads(
      a,
      b,
      alignment([0, 1, 2], [0, -1, 1, 2]),
      'both'
    );
    const tree = buildTree(decodePayload(merged.payload));
    const size = (): { w: number; h: number } => ({ w: 80, h: 30 });
    const sizer = { node: size, group: size, pill: size, title: () => 60 };
    const view = createGraphView(tree, sizer);
    const edgeSides = async (opened: number[]): Promise<number[]> => {
      await view.restore(opened);
      const wires = sceneWires(tree, view.scene, merged.wire);
      expect(wires.length).toBe(view.scene.edgeCount);
      return [...new Set(wires)].sort();
    };
    // A collapsed box hides the removed wire.
    expect(await edgeSides([])).toEqual([WIRE.both, WIRE.added]);
    expect(await edgeSides([0, 1, 2])).toEqual(Object.values(WIRE));
  });

  test('has no costs and does not change the first model', () => {
    const before = JSON.stringify(a);
    const { payload } = mergePayloads(
      a,
      b,
      alignment([0, 1, 2], [0, -1, 1, 2]),
      'both'
    );
    expect(payload.nodes.macs.every(macs => macs === null)).toBe(true);
    expect(payload.metrics.total_macs).toBeNull();
    expect(JSON.stringify(a)).toBe(before);
  });

  test('knows the model of each tensor', () => {
    const merged = mergePayloads(
      a,
      b,
      alignment([0, 1, 2], [0, -1, 1, 2]),
      'both'
    );
    merged.tensor.forEach((id, tensor) => {
      const from = merged.tensorSide[tensor] === 0 ? a : b;
      expect(merged.payload.tensors.name[tensor]).toBe(from.tensors.name[id]);
    });
  });
});

test.each(Array.from({ length: 40 }, (_, seed) => seed))(
  'random graphs with random pairs merge into a valid graph (%i)',
  seed => {
    const source = new Random(seed);
    const random = (): number => source.next();
    const graph = (): GraphPayload => {
      const builder = new PayloadBuilder();
      const tensors = [builder.input('x')];
      const count = 1 + Math.floor(random() * 20);
      for (let index = 0; index < count; index++) {
        const pick = (): number =>
          tensors[Math.floor(random() * tensors.length)];
        const scope = [`s${Math.floor(random() * 3)}`];
        tensors.push(...builder.add('Add', [pick(), pick()], { scope }));
      }
      builder.output(tensors[tensors.length - 1]);
      return builder.finish();
    };
    const [a, b] = [graph(), graph()];
    const column = (payload: GraphPayload): number[] =>
      payload.nodes.op.map(() => -1);
    const [left, right] = [column(a), column(b)];
    const pairLimit = Math.min(left.length, right.length);
    let pair = 0;
    for (let index = 0; index < pairLimit; index++) {
      if (random() < 0.6) {
        // Crossing pairs lead to cycles of wires.
        const other = Math.floor(random() * right.length);
        if (right[other] < 0) {
          left[index] = right[other] = pair++;
        }
      }
    }
    const merged = mergePayloads(a, b, alignment(left, right), 'both');
    const { nodes, tensors } = merged.payload;
    const only = right.filter(node => node < 0).length;
    expect(nodes.op.length).toBe(left.length + only);
    const ids = [...merged.node].map(
      (id, index) => `${merged.side[index]} ${id}`
    );
    expect(new Set(ids).size).toBe(ids.length);
    for (const tensor of [...nodes.inputs, ...nodes.outputs]) {
      expect(tensor).toBeLessThan(tensors.name.length);
    }
    nodes.op.forEach((_, node) => {
      for (
        let k = nodes.output_offsets[node];
        k < nodes.output_offsets[node + 1];
        k++
      ) {
        expect(tensors.producer[nodes.outputs[k]]).toBe(node);
      }
    });
    const tree = buildTree(decodePayload(merged.payload));
    expect(tree.nodeOrder.length).toBe(nodes.op.length);
    const nodeIds = a.nodes.op.map((_, node) => node);
    const itself = sides(
      mergePayloads(a, a, alignment(nodeIds, nodeIds), 'both')
    );
    expect(itself.filter(name => !name.endsWith('both'))).toEqual([]);
    // Wires removed in one direction of the comparison are added in the other.
    const reversed = mergePayloads(b, a, alignment(right, left), 'both');
    const oneSided = (pair: IMergedPayload, side: number): number =>
      new Set(
        pairWires(pair)
          .filter(([, is]) => is === side)
          .map(([key]) => key)
      ).size;
    expect(oneSided(merged, WIRE.removed)).toBe(oneSided(reversed, WIRE.added));
    expect(oneSided(merged, WIRE.added)).toBe(oneSided(reversed, WIRE.removed));
  }
);

test('the node order is stable where edges allow it and handles cycles', () => {
  expect(mergeOrder([[], [10], [11]], [[10], [11], [12]], [0, 1, 2])).toEqual([
    0, 1, 2
  ]);
  expect(mergeOrder([[12], [], [11]], [[10], [11], [12]], [0, 1, 2])).toEqual([
    1, 2, 0
  ]);
  expect(mergeOrder([[12], [10], [11]], [[10], [11], [12]], [0, 1, 2])).toEqual(
    [0, 1, 2]
  );
});
