/** A small complete payload: scopes, a symbol, unknown costs, weights, several operator types. */

import { emptyPayload } from '../../core/testing/builder';
import type { DimInfo, GraphPayload, Identity } from '../../schema';

export interface IPayloadOptions {
  /** Blocks of Conv → Relu; at least 1. */
  readonly blocks?: number;
  readonly dims?: readonly DimInfo[];
  readonly diagnostics?: GraphPayload['diagnostics'];
  /** Name of the first node, to test unusual ones. */
  readonly name?: string;
}

export const SYMBOL: DimInfo = {
  name: 'batch',
  value: 2,
  assumed: true,
  suggested: 2,
  where: ['x[0]'],
  symbol: '',
  follows: null
};

/** `testPayload` in words: its input is an image, its output the scores. */
export const IDENTITY: Identity = {
  text: 'Probably image classification · CNN · 2×8 → 2×8 · 12 parameters · float32, not quantized',
  task: 'image classification',
  task_id: 'image-classification',
  family: 'CNN',
  inputs: [
    {
      name: 'x',
      role: 'image',
      likely: true,
      shown: true,
      elem_type: 'float32',
      shape: [2, 8]
    }
  ],
  outputs: [
    {
      name: 'y',
      role: '',
      likely: false,
      shown: true,
      elem_type: 'float32',
      shape: [2, 8]
    }
  ],
  parameters: 12,
  precision: 'float32, not quantized',
  known: { task: 'likely', family: 'structure', precision: 'structure' },
  evidence: [
    { about: 'task', text: 'image input, 8 output values per image' },
    {
      about: 'family',
      text: '2 convolutions have 100 % of the MACs of layers with weights'
    },
    { about: 'precision', text: '12 parameters in float32' }
  ]
};

/** Nodes 2b and 2b+1 are the Conv and Relu of block b; the last node is a custom op without costs. */
export function testPayload(options: IPayloadOptions = {}): GraphPayload {
  const blocks = options.blocks ?? 2;
  const batch = (options.dims ?? [SYMBOL])[0]?.value ?? 'batch';
  const nodeCount = 2 * blocks + 1;
  const blockIds = Array.from({ length: blocks }, (_, b) => b);
  const custom = nodeCount - 1;
  // Tensors: input, then Conv weight, Conv output, Relu output of each block, then the result.
  const weight = (b: number): number => 1 + 3 * b;
  const bytesOf = (b: number): number => 2 + 3 * b;
  const active = (b: number): number => 3 + 3 * b;
  const input = (b: number): number => (b === 0 ? 0 : active(b - 1));
  const last = 1 + 3 * blocks;
  const perNode = <T>(conv: (b: number) => T, relu: T, odd: T): T[] => [
    ...blockIds.flatMap(b => [conv(b), relu]),
    odd
  ];
  const macs = (b: number): number => 1000 * (b + 1);
  const total = blockIds.reduce((sum, b) => sum + macs(b), 0);
  const blank = emptyPayload('main');
  return {
    ...blank,
    model: {
      ...blank.model,
      name: 'small.onnx',
      file_bytes: 12345,
      structure_bytes: 345,
      identity: 'sha256:0',
      sha256: null,
      external_sha256: {},
      onnx_ir_version: '10',
      opset_imports: [{ domain: 'ai.onnx', version: 20 }],
      producer_name: 'maker',
      producer_version: '1',
      domain: '',
      metadata: { author: 'someone' }
    },
    graph: {
      name: 'main',
      num_nodes: nodeCount,
      num_constant_nodes: 0,
      num_edges: nodeCount,
      num_initializers: blocks,
      num_subgraphs: 0,
      num_functions: 0,
      inputs: [
        {
          name: 'x',
          elem_type: 'float32',
          shape: [batch, 8],
          container: 'tensor'
        }
      ],
      outputs: [
        { name: 'y', elem_type: 'float32', shape: null, container: 'tensor' }
      ],
      op_counts: { Conv: blocks, Relu: blocks, Mystery: 1 }
    },
    metrics: {
      ...blank.metrics,
      total_params: 100 * blocks,
      other_constants: {},
      data_dependent_flops: 0,
      weight_bytes: 400 * blocks,
      total_macs: total,
      total_flops: 2 * total + 64 * blocks,
      read_bytes: 4096,
      write_bytes: 2048,
      peak_activation_bytes: 5120,
      peak_activation_bytes_simple: 6144
    },
    coverage: {
      nodes: (2 * blocks) / nodeCount,
      nodes_known: 2 * blocks,
      nodes_total: nodeCount,
      shapes: 0.9,
      macs: 1,
      unknown_ops: { 'vendor::Mystery': 1 },
      data_dependent: {},
      reasons: { 'no rule for vendor::Mystery': 1 }
    },
    dims: [...(options.dims ?? [SYMBOL])],
    diagnostics: [
      ...(options.diagnostics ?? [
        {
          code: 'unknown-op',
          severity: 'warning',
          message: 'Nothing is known of vendor::Mystery',
          where: 'odd',
          node: custom
        },
        {
          code: 'note',
          severity: 'info',
          message: 'One symbol was assumed',
          where: '',
          node: null
        }
      ])
    ],
    ops: [
      { type: 'Conv', domain: 'ai.onnx', category: 'layer', opset: 20 },
      { type: 'Relu', domain: 'ai.onnx', category: 'activation', opset: 20 },
      { type: 'Mystery', domain: 'vendor', category: 'custom', opset: 1 }
    ],
    dtypes: ['float32'],
    shapes: [[batch, 8], [8, 8], null],
    graphs: {
      name: ['main'],
      parent_node: [-1],
      attribute: [''],
      scope: [-1],
      inputs: [[0]],
      outputs: [[last]]
    },
    scopes: {
      parent: [-1, ...blockIds.map(() => 0)],
      label: ['net', ...blockIds.map(b => `block.${b}`)],
      type: ['Net', ...blockIds.map(() => 'Block')],
      role: ['', ...blockIds.map(() => '')],
      origin: ['scope', ...blockIds.map(() => 'scope')]
    },
    nodes: {
      op: perNode(() => 0, 1, 2),
      name: perNode(
        b => (b === 0 && options.name) || `conv_${b}`,
        'relu',
        'odd'
      ),
      scope: [...blockIds.flatMap(b => [b + 1, b + 1]), -1],
      graph: perNode(() => 0, 0, 0),
      constant: [],
      input_offsets: offsets(perNode(() => 2, 1, 1)),
      inputs: [
        ...blockIds.flatMap(b => [input(b), weight(b), bytesOf(b)]),
        active(blocks - 1)
      ],
      output_offsets: offsets(perNode(() => 1, 1, 1)),
      outputs: [...blockIds.flatMap(b => [bytesOf(b), active(b)]), last],
      params: perNode(() => 100, 0, 0),
      weight_bytes: perNode<number | null>(() => 400, 0, 0),
      macs: perNode<number | null>(macs, 0, null),
      flops: perNode<number | null>(b => 2 * macs(b), 64, null),
      read_bytes: perNode<number | null>(() => 512, 256, null),
      write_bytes: perNode<number | null>(() => 256, 256, null),
      activation_bytes: perNode<number | null>(() => 256, 256, null),
      reason: { [String(custom)]: 'no rule for vendor::Mystery' },
      runs: {},
      runs_unknown: [],
      uncounted: [],
      settings: {}
    },
    tensors: {
      name: [
        'x',
        ...blockIds.flatMap(b => [`w${b}`, `made_${b}`, `active_${b}`]),
        'y'
      ],
      dtype: [0, ...blockIds.flatMap(() => [0, 0, 0]), 0],
      shape: [0, ...blockIds.flatMap(() => [1, 0, 0]), 2],
      kind: [1, ...blockIds.flatMap(() => [2, 0, 0]), 0],
      producer: [-1, ...blockIds.flatMap(b => [-1, 2 * b, 2 * b + 1]), custom],
      inputs: [0],
      outputs: [last]
    }
  };
}

function offsets(lengths: readonly number[]): number[] {
  const outputOffsets = [0];
  for (const length of lengths) {
    outputOffsets.push(outputOffsets[outputOffsets.length - 1] + length);
  }
  return outputOffsets;
}
