/**
 * What operators compute, independent of storage types and runtimes: a quantized, fused or recast product
 * is still a product. Matching is based on these.
 */

import type { IGraphModel } from '../types';

/** Operators, grouped by the core operator they are forms of. */
const OPERATOR_FORMS: Readonly<Record<string, readonly string[]>> = {
  MatMul: [
    'Gemm',
    'MatMulInteger',
    'MatMulInteger16',
    'MatMulIntegerToFloat',
    'DynamicQuantizeMatMul',
    'MatMulNBits',
    'MatMulBnb4',
    'MatMulFpQ4',
    'FusedMatMul',
    'FusedGemm',
    'QGemm',
    'TransposeMatMul',
    'GemmFloat8',
    'FusedMatMulActivation'
  ],
  Conv: ['ConvInteger', 'FusedConv', 'NhwcConv', 'NhwcFusedConv'],
  MaxPool: ['NhwcMaxPool'],
  Attention: ['QAttention', 'MultiHeadAttention', 'GroupQueryAttention'],
  LayerNormalization: ['SkipLayerNormalization'],
  RMSNormalization: [
    'SimplifiedLayerNormalization',
    'SkipSimplifiedLayerNormalization'
  ],
  GroupNormalization: ['GroupNorm', 'SkipGroupNorm'],
  Gelu: ['FastGelu', 'BiasGelu', 'QuickGelu', 'BiasSplitGelu'],
  Softmax: ['BiasSoftmax'],
  Gather: ['GatherBlockQuantized'],
  LSTM: ['DynamicQuantizeLSTM'],
  EmbedLayerNormalization: ['QEmbedLayerNormalization']
};

const FORM_OF = new Map(
  Object.entries(OPERATOR_FORMS).flatMap(([core, forms]) =>
    forms.map(form => [form, core] as const)
  )
);

/** They change how numbers are stored, not their values. */
const STORAGE_OPS = new Set([
  'Cast',
  'QuantizeLinear',
  'DequantizeLinear',
  'DynamicQuantizeLinear'
]);

/** The domains of standard ONNX. */
const ONNX_DOMAINS = new Set(['', 'ai.onnx']);

/** Suffixes that quantizers and ONNX Runtime append to the names of nodes and weights they create. */
const APPENDED = new RegExp(
  '(?:_quant(?:ized)?|_Q[248](?:G\\d+|_\\d+)?|_output_quantized|' +
    '_(?:De)?[qQ]uantizeLinear(?:_Output)?|' +
    '/(?:MatMul|Gemm|Conv|Gelu|LayerNorm)\\w*Fusion/?)+$'
);

/** The name without suffixes added by quantizers. */
export function sourceName(name: string): string {
  return name.replace(APPENDED, '') || name;
}

/** The core operator, independent of its domain; null if the operator is not a form of one. */
function coreOf(type: string): string | null {
  const baseType = type.startsWith('QLinear') ? type.slice(7) : type;
  return (
    FORM_OF.get(baseType) ??
    (baseType === type && !Object.hasOwn(OPERATOR_FORMS, baseType)
      ? null
      : baseType)
  );
}

/** The operators of one model, and the nodes that only change how values are stored. */
export class OperatorForms {
  /** Operator with its domain, or the core operator it is a form of. */
  private readonly _core: readonly string[];
  private readonly _bare: readonly string[];
  /** By node: the input that it passes on as its output; -1 if it computes. */
  private readonly _forwardedInput: Int32Array;

  constructor(private readonly _model: IGraphModel) {
    const { ops } = _model.payload;
    this._bare = ops.map(({ type }) => type);
    this._core = ops.map(
      ({ domain, type }) =>
        coreOf(type) ?? (ONNX_DOMAINS.has(domain) ? type : `${domain}:${type}`)
    );
    this._forwardedInput = new Int32Array(_model.nodeCount).fill(-1);
    for (let node = 0; node < _model.nodeCount; node++) {
      this._forwardedInput[node] = this._findForwardedInput(node);
    }
  }

  /** What the node computes. Nodes that only change the storage type have kinds of their own. */
  of(node: number): string {
    const core = this._core[this._model.nodeOp[node]] ?? '?';
    return this._forwardedInput[node] < 0 ? core : `~${core}`;
  }

  /** The operator's name; weights are comparable only between nodes of the same operator. */
  type(node: number): string {
    return this._bare[this._model.nodeOp[node]] ?? '?';
  }

  /** True if the node only passes on its input, in another storage type or rescaled. */
  forwardsInput(node: number): boolean {
    return this._forwardedInput[node] >= 0;
  }

  /** The computed tensor, behind nodes that only change its storage type. */
  computed(tensor: number): number {
    const { tensorProducer } = this._model;
    for (
      let current = tensor, steps = 0;
      current >= 0 && steps < MAX_FORWARDING;
      steps++
    ) {
      const producer = tensorProducer[current];
      if (producer < 0 || this._forwardedInput[producer] < 0) {
        return current;
      }
      current = this._forwardedInput[producer];
    }
    return tensor;
  }

  /**
   * The operand that an input belongs to: quantized operators have a scale and a zero point after each
   * operand.
   */
  operand(node: number, slot: number): number {
    const type = this._bare[this._model.nodeOp[node]] ?? '';
    if (type === 'QLinearConcat') {
      return slot < 2 ? slot : (slot - 2) / 3;
    }
    return type.startsWith('QLinear') && slot % 3 === 0 ? slot / 3 : slot;
  }

  private _findForwardedInput(node: number): number {
    const { inputs, inputOffsets, tensorProducer } = this._model;
    const from = inputOffsets[node];
    const end = inputOffsets[node + 1];
    const type = this.type(node);
    if (from === end) {
      return -1;
    }
    if (STORAGE_OPS.has(type)) {
      return inputs[from];
    }
    if (type !== 'Mul' || end - from !== 2) {
      return -1;
    }
    // The scales of an integer product: those of its operands, and the one that rescales its result.
    const producers = [inputs[from], inputs[from + 1]].map(tensor =>
      tensor < 0 ? -1 : tensorProducer[tensor]
    );
    for (const [index, producer] of producers.entries()) {
      if (producer < 0) {
        continue;
      }
      const producerType = this.type(producer);
      if (producerType === 'DynamicQuantizeLinear') {
        return inputs[from + index];
      }
      const before = inputs[inputOffsets[producer]] ?? -1;
      const product = before < 0 ? -1 : tensorProducer[before];
      if (
        producerType === 'Cast' &&
        product >= 0 &&
        /Integer$/.test(this.type(product))
      ) {
        return inputs[from + index];
      }
    }
    return -1;
  }
}

/** Maximum length of a chain of storage nodes; quantizers do not produce longer ones. */
const MAX_FORWARDING = 16;
