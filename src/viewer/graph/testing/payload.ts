/** Builds small payloads for tests and benchmarks of the drawing surface. */
import type { GraphPayload } from '../../../schema';

type Shape = readonly (number | string)[];

export interface INodeSpec {
  readonly op: string;
  readonly category?: string;
  readonly name?: string;
  readonly inputs: readonly number[];
  readonly shape: Shape;
  readonly macs?: number | null;
  readonly params?: number;
  readonly scope?: number;
}

/** Collects columns; ids are assigned in call order. */
export class PayloadMaker {
  private readonly _ops: {
    type: string;
    domain: string;
    category: string;
    opset: number;
  }[] = [];
  private readonly _shapes: (number | string)[][] = [];
  private readonly _names: string[] = [];
  private readonly _kinds: number[] = [];
  private readonly _shapeOf: number[] = [];
  private readonly _producer: number[] = [];
  private readonly _nodes: (INodeSpec & { opIndex: number; output: number })[] =
    [];
  private readonly _scopes = {
    parent: [] as number[],
    label: [] as string[],
    type: [] as string[]
  };
  private readonly _inputIds: number[] = [];

  input(name: string, shape: Shape): number {
    const id = this._tensor(name, shape, 1, -1);
    this._inputIds.push(id);
    return id;
  }

  weight(name: string, shape: Shape): number {
    return this._tensor(name, shape, 2, -1);
  }

  scope(label: string, type: string, parent = -1): number {
    this._scopes.parent.push(parent);
    this._scopes.label.push(label);
    this._scopes.type.push(type);
    return this._scopes.label.length - 1;
  }

  /** Returns the node's output tensor. */
  node(spec: INodeSpec): number {
    let opIndex = this._ops.findIndex(op => op.type === spec.op);
    if (opIndex < 0) {
      opIndex = this._ops.length;
      this._ops.push({
        type: spec.op,
        domain: 'ai.onnx',
        category: spec.category ?? 'other',
        opset: 18
      });
    }
    const id = this._nodes.length;
    const output = this._tensor(
      `${spec.name ?? spec.op}_${id}_out`,
      spec.shape,
      0,
      id
    );
    this._nodes.push({ ...spec, opIndex, output });
    return output;
  }

  build(outputs: readonly number[]): GraphPayload {
    const { _nodes: nodes } = this;
    const list = <T>(f: (n: (typeof nodes)[number]) => T): T[] => nodes.map(f);
    const starts = (f: (n: (typeof nodes)[number]) => number): number[] => {
      const offsets = [0];
      nodes.forEach(n => offsets.push(offsets[offsets.length - 1] + f(n)));
      return offsets;
    };
    const macs = list(n => n.macs ?? (n.macs === null ? null : 0));
    const totalMacs = macs.reduce<number>((a, b) => a + (b ?? 0), 0);
    const totalParams = list(n => n.params ?? 0).reduce((a, b) => a + b, 0);
    const payload = {
      schema_version: '1.1',
      model: { name: 'synthetic.onnx' },
      graph: {
        name: 'main',
        num_nodes: nodes.length,
        inputs: [],
        outputs: [],
        op_counts: {}
      },
      metrics: {
        total_macs: totalMacs,
        total_params: totalParams,
        total_flops: 2 * totalMacs
      },
      coverage: {},
      dims: [],
      diagnostics: [],
      ops: this._ops,
      dtypes: ['float32'],
      shapes: this._shapes,
      graphs: {
        name: ['main'],
        parent_node: [-1],
        attribute: [''],
        scope: [-1],
        inputs: [this._inputIds],
        outputs: [[...outputs]]
      },
      scopes: {
        ...this._scopes,
        origin: this._scopes.label.map(() => 'scope')
      },
      nodes: {
        op: list(n => n.opIndex),
        name: list(n => n.name ?? ''),
        scope: list(n => n.scope ?? -1),
        graph: list(() => 0),
        constant: [],
        input_offsets: starts(n => n.inputs.length),
        inputs: nodes.flatMap(n => [...n.inputs]),
        output_offsets: starts(() => 1),
        outputs: list(n => n.output),
        params: list(n => n.params ?? 0),
        weight_bytes: list(n => 4 * (n.params ?? 0)),
        macs,
        flops: macs.map(m => (m === null ? null : 2 * m)),
        read_bytes: list(() => 0),
        write_bytes: list(() => 0),
        activation_bytes: list(() => 0),
        reason: {},
        runs: {},
        runs_unknown: [],
        uncounted: [],
        settings: {}
      },
      tensors: {
        name: this._names,
        dtype: this._names.map(() => 0),
        shape: this._shapeOf,
        kind: this._kinds,
        producer: this._producer,
        inputs: this._inputIds,
        outputs: [...outputs]
      }
    };
    // Parts that drawing does not read are omitted on purpose.
    return payload as unknown as GraphPayload;
  }

  private _tensor(
    name: string,
    shape: Shape,
    kind: number,
    producer: number
  ): number {
    this._names.push(name);
    this._kinds.push(kind);
    this._shapeOf.push(this._shapes.length);
    this._producer.push(producer);
    this._shapes.push([...shape]);
    return this._names.length - 1;
  }
}

/** An encoder of `layers` scoped blocks after a convolution, with every kind of card. */
export function encoderPayload(layers: number, experts = 0): GraphPayload {
  const m = new PayloadMaker();
  const pixels = m.input('pixel_values', [1, 3, 224, 224]);
  const mask = m.input('attention_mask', [1, 'seq']);
  const root = m.scope('model', 'EncoderModel');
  const patch = m.node({
    op: 'Conv',
    category: 'layer',
    name: '/model/patch/Conv',
    inputs: [
      pixels,
      m.weight('patch.weight', [768, 3, 16, 16]),
      m.weight('patch.bias', [768])
    ],
    shape: [1, 768, 14, 14],
    macs: 115605504,
    params: 590592,
    scope: root
  });
  const relu = m.node({
    op: 'Relu',
    category: 'activation',
    inputs: [patch],
    shape: [1, 768, 14, 14],
    scope: root
  });
  const pool = m.node({
    op: 'MaxPool',
    category: 'pool',
    inputs: [relu],
    shape: [1, 768, 7, 7],
    scope: root
  });
  let x = m.node({
    op: 'Reshape',
    category: 'shape',
    inputs: [pool, m.weight('shape', [3])],
    shape: [1, 196, 768],
    scope: root
  });
  const stack = m.scope('encoder', 'Encoder', root);
  for (let layer = 0; layer < layers; layer++) {
    x = block(
      m,
      x,
      mask,
      m.scope(`layer.${layer}`, 'EncoderLayer', stack),
      layer,
      experts
    );
  }
  const head = m.node({
    op: 'Gemm',
    category: 'layer',
    name: '/classifier/Gemm',
    inputs: [
      x,
      m.weight('head.weight', [1000, 768]),
      m.weight('head.bias', [1000])
    ],
    shape: [1, 1000],
    macs: 768000,
    params: 769000
  });
  const odd = m.node({
    op: 'MyCustomPostprocessing',
    category: 'custom',
    inputs: [head],
    shape: [1, 1000],
    macs: null
  });
  return m.build([odd]);
}

function block(
  m: PayloadMaker,
  x: number,
  mask: number,
  scope: number,
  layer: number,
  experts: number
): number {
  const shape = [1, 196, 768];
  const linear = (
    input: number,
    name: string,
    inner: number,
    into: number
  ): number => {
    const y = m.node({
      op: 'MatMul',
      category: 'layer',
      name: `/layer.${layer}/${name}/MatMul`,
      inputs: [input, m.weight(`${name}.weight`, [768, 768])],
      shape,
      macs: 115605504 * (inner / 768),
      params: 768 * inner,
      scope: into
    });
    return m.node({
      op: 'Add',
      category: 'other',
      inputs: [y, m.weight(`${name}.bias`, [768])],
      shape,
      params: 768,
      scope: into
    });
  };
  const norm = (input: number, into: number): number =>
    m.node({
      op: 'LayerNormalization',
      category: 'normalization',
      inputs: [
        input,
        m.weight('norm.weight', [768]),
        m.weight('norm.bias', [768])
      ],
      shape,
      params: 1536,
      scope: into
    });
  const attention = m.scope('attention', 'SelfAttention', scope);
  const n = norm(x, scope);
  const q = linear(n, 'query', 768, attention);
  const k = linear(n, 'key', 768, attention);
  const v = linear(n, 'value', 768, attention);
  const kt = m.node({
    op: 'Transpose',
    category: 'transform',
    inputs: [k],
    shape: [1, 12, 64, 196],
    scope: attention
  });
  const scores = m.node({
    op: 'MatMul',
    category: 'layer',
    inputs: [q, kt],
    shape: [1, 12, 196, 196],
    macs: 29503488,
    scope: attention
  });
  const masked = m.node({
    op: 'Add',
    category: 'other',
    inputs: [scores, mask],
    shape: [1, 12, 196, 196],
    scope: attention
  });
  const soft = m.node({
    op: 'Softmax',
    category: 'activation',
    inputs: [masked],
    shape: [1, 12, 196, 196],
    scope: attention
  });
  const mixed = m.node({
    op: 'MatMul',
    category: 'layer',
    inputs: [soft, v],
    shape,
    macs: 29503488,
    scope: attention
  });
  const output = linear(mixed, 'output', 768, attention);
  const sum = m.node({
    op: 'Add',
    category: 'other',
    inputs: [x, output],
    shape,
    scope
  });
  const mlp = m.scope('mlp', 'Mlp', scope);
  const n2 = norm(sum, scope);
  const parts: number[] = [];
  for (let e = 0; e < Math.max(1, experts); e++) {
    const up = linear(n2, `fc1.${e}`, 3072, mlp);
    const gelu = m.node({
      op: 'Gelu',
      category: 'activation',
      inputs: [up],
      shape: [1, 196, 3072],
      scope: mlp
    });
    parts.push(linear(gelu, `fc2.${e}`, 3072, mlp));
  }
  const down =
    parts.length > 1
      ? m.node({
          op: 'Sum',
          category: 'other',
          inputs: parts,
          shape,
          scope: mlp
        })
      : parts[0];
  return m.node({
    op: 'Add',
    category: 'other',
    inputs: [sum, down],
    shape,
    scope
  });
}
