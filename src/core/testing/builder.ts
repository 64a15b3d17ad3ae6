/** Builds payloads for tests and benchmarks, one node at a time. */

import type { DimValue, GraphPayload } from '../../schema';
import { TENSOR_KIND } from '../model/decodePayload';

const CATEGORY: Record<string, string> = {
  Conv: 'layer',
  Gemm: 'layer',
  MatMul: 'layer',
  Relu: 'activation',
  Softmax: 'activation',
  Sigmoid: 'activation',
  BatchNormalization: 'normalization',
  LayerNormalization: 'normalization',
  MaxPool: 'pool',
  GlobalAveragePool: 'pool',
  Reshape: 'shape',
  Transpose: 'transform',
  If: 'control',
  Loop: 'control',
  Constant: 'data'
};

export interface INodeOptions {
  name?: string;
  /** Scope path, outermost first; `label:Class` gives a class, a third part the origin. */
  scope?: readonly string[];
  outputs?: number;
  shape?: DimValue[] | null;
  params?: number;
  macs?: number | null;
  graph?: number;
}

export class PayloadBuilder {
  constructor(name = 'model') {
    this._payload = emptyPayload(name);
  }

  /** Adds a model input (or a subgraph's formal input); returns the tensor. */
  input(name: string, shape: DimValue[] | null = [1, 16], graph = 0): number {
    const kind = graph === 0 ? TENSOR_KIND.input : TENSOR_KIND.formal;
    const tensor = this._tensor(name, kind, -1, shape);
    if (graph === 0) {
      this._payload.tensors.inputs.push(tensor);
    }
    this._payload.graphs.inputs[graph].push(tensor);
    return tensor;
  }

  weight(name: string, shape: DimValue[]): number {
    return this._tensor(name, TENSOR_KIND.initializer, -1, shape);
  }

  /** Adds a node; returns its output tensors. */
  add(
    op: string,
    inputs: readonly number[],
    options: INodeOptions = {}
  ): number[] {
    const { nodes } = this._payload;
    const id = nodes.op.length;
    const constant = op === 'Constant';
    nodes.op.push(this._op(op));
    nodes.name.push(options.name ?? `${op}_${id}`);
    nodes.scope.push(this._scope(options.scope ?? []));
    nodes.graph.push(options.graph ?? 0);
    if (constant) {
      nodes.constant.push(id);
    }
    nodes.inputs.push(...inputs);
    nodes.input_offsets.push(nodes.inputs.length);
    const shape = options.shape === undefined ? [1, 16] : options.shape;
    const kind = constant ? TENSOR_KIND.constant : TENSOR_KIND.activation;
    const outputs = Array.from({ length: options.outputs ?? 1 }, (_, i) =>
      this._tensor(`${op}_${id}_out${i}`, kind, id, shape)
    );
    nodes.outputs.push(...outputs);
    nodes.output_offsets.push(nodes.outputs.length);
    const macs = options.macs === undefined ? 0 : options.macs;
    nodes.params.push(options.params ?? 0);
    nodes.weight_bytes.push((options.params ?? 0) * 4);
    nodes.macs.push(macs);
    nodes.flops.push(macs === null ? null : 2 * macs);
    nodes.read_bytes.push(macs === null ? null : 64);
    nodes.write_bytes.push(macs === null ? null : 64);
    nodes.activation_bytes.push(64);
    return outputs;
  }

  /** The node added last. */
  get lastNode(): number {
    return this._payload.nodes.op.length - 1;
  }

  /** Adds a subgraph of a control-flow node, with its own scope; returns the graph id. */
  body(node: number, attribute: string, scope: readonly string[]): number {
    const { graphs } = this._payload;
    graphs.name.push(attribute);
    graphs.parent_node.push(node);
    graphs.attribute.push(attribute);
    graphs.scope.push(this._scope(scope));
    graphs.inputs.push([]);
    graphs.outputs.push([]);
    return graphs.name.length - 1;
  }

  output(tensor: number, graph = 0): void {
    if (graph === 0) {
      this._payload.tensors.outputs.push(tensor);
    }
    this._payload.graphs.outputs[graph].push(tensor);
  }

  finish(): GraphPayload {
    return this._payload;
  }

  private _op(type: string): number {
    let op = this._ops.get(type);
    if (op === undefined) {
      op = this._payload.ops.length;
      this._ops.set(type, op);
      const category = CATEGORY[type] ?? 'data';
      this._payload.ops.push({ type, domain: '', category, opset: 17 });
    }
    return op;
  }

  private _scope(path: readonly string[]): number {
    const { scopes } = this._payload;
    let parent = -1;
    for (const segment of path) {
      const [label, type = '', origin = 'scope'] = segment.split(':');
      const key = `${parent}/${label}`;
      let scope = this._scopes.get(key);
      if (scope === undefined) {
        scope = scopes.parent.length;
        this._scopes.set(key, scope);
        scopes.parent.push(parent);
        scopes.label.push(label);
        scopes.type.push(type);
        scopes.origin.push(origin);
      }
      parent = scope;
    }
    return parent;
  }

  private _tensor(
    name: string,
    kind: number,
    producer: number,
    shape: DimValue[] | null
  ): number {
    const { tensors } = this._payload;
    tensors.name.push(name);
    tensors.dtype.push(0);
    tensors.shape.push(this._shape(shape));
    tensors.kind.push(kind);
    tensors.producer.push(producer);
    return tensors.name.length - 1;
  }

  private _shape(shape: DimValue[] | null): number {
    const key = JSON.stringify(shape);
    let id = this._shapes.get(key);
    if (id === undefined) {
      id = this._payload.shapes.length;
      this._shapes.set(key, id);
      this._payload.shapes.push(shape);
    }
    return id;
  }

  private readonly _payload: GraphPayload;
  private readonly _ops = new Map<string, number>();
  private readonly _scopes = new Map<string, number>();
  private readonly _shapes = new Map<string, number>();
}

/** A payload without nodes. */
export function emptyPayload(name: string): GraphPayload {
  return {
    identity: null,
    schema_version: '1.1',
    model: {
      name,
      file_bytes: 0,
      structure_bytes: 0,
      external_files: [],
      external_bytes: 0,
      identity: '',
      sha256: null,
      external_sha256: {},
      onnx_ir_version: '9',
      opset_imports: [],
      producer_name: '',
      producer_version: '',
      domain: '',
      model_version: 0,
      doc_string: '',
      descriptions: [],
      num_descriptions: 0,
      metadata: {}
    },
    graph: {
      name,
      num_nodes: 0,
      num_constant_nodes: 0,
      num_edges: 0,
      num_initializers: 0,
      num_subgraphs: 0,
      num_functions: 0,
      inputs: [],
      outputs: [],
      op_counts: {}
    },
    metrics: {
      total_params: 0,
      params_reason: '',
      is_quantized: null,
      precision_breakdown: null,
      other_constants: {},
      data_dependent_flops: 0,
      weight_bytes: null,
      total_macs: null,
      total_flops: null,
      read_bytes: null,
      write_bytes: null,
      peak_activation_bytes: null,
      peak_activation_bytes_simple: null,
      peak_reason: '',
      by_op: [],
      attention: null,
      total_macs_expr: null,
      total_flops_expr: null,
      read_bytes_expr: null,
      write_bytes_expr: null,
      peak_activation_bytes_expr: null,
      peak_activation_bytes_simple_expr: null,
      expr_coverage: null,
      expr_conditions: [],
      inplace_conditions: [],
      expr_reasons: {}
    },
    memory: {
      peak: null,
      peak_simple: null,
      reason: '',
      steps: 0,
      input_bytes: null,
      curve: null,
      weights: null,
      activations: null,
      kv_cache: null
    },
    timeline: null,
    coverage: {
      nodes: 1,
      nodes_known: 0,
      nodes_total: 0,
      shapes: 1,
      macs: null,
      unknown_ops: {},
      data_dependent: {},
      reasons: {}
    },
    dims: [],
    diagnostics: [],
    ops: [],
    dtypes: ['float32'],
    shapes: [],
    graphs: {
      name: ['main'],
      parent_node: [-1],
      attribute: [''],
      scope: [-1],
      inputs: [[]],
      outputs: [[]]
    },
    repeats: { count: [], size: [], name: [] },
    blocks: null,
    expressions: null,
    batch: null,
    architecture: null,
    rule_settings: null,
    runnable: {
      verdict: 'yes',
      reason: '',
      node: null,
      sizes: false,
      file: false
    },
    hardware: null,
    modules: null,
    attributes: null,
    risk_signals: [],
    scopes: { parent: [], label: [], type: [], role: [], origin: [] },
    nodes: {
      op: [],
      name: [],
      scope: [],
      graph: [],
      constant: [],
      input_offsets: [0],
      inputs: [],
      output_offsets: [0],
      outputs: [],
      params: [],
      weight_bytes: [],
      macs: [],
      flops: [],
      read_bytes: [],
      write_bytes: [],
      activation_bytes: [],
      reason: {},
      runs: {},
      runs_unknown: [],
      uncounted: [],
      settings: {}
    },
    tensors: {
      name: [],
      dtype: [],
      shape: [],
      kind: [],
      producer: [],
      inputs: [],
      outputs: []
    }
  };
}
