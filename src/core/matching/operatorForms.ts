/**
 * What an operator computes, whatever its weights are stored in and whatever runs it: a quantized, fused or
 * recast product is still the product. Counterparts are sought by these.
 */

import type { IGraphModel } from '../types';

/** Operators by the one that they are forms of. */
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

/** They change how numbers are stored, not what they are. */
const STORAGE_OPS = new Set([
  'Cast',
  'QuantizeLinear',
  'DequantizeLinear',
  'DynamicQuantizeLinear'
]);

/** Domains of ONNX itself. */
const ONNX_DOMAINS = new Set(['', 'ai.onnx']);

/** What quantizers and ONNX Runtime append to the names of nodes and weights that they make anew. */
const APPENDED = new RegExp(
  '(?:_quant(?:ized)?|_Q[248](?:G\\d+|_\\d+)?|_output_quantized|' +
    '_(?:De)?[qQ]uantizeLinear(?:_Output)?|' +
    '/(?:MatMul|Gemm|Conv|Gelu|LayerNorm)\\w*Fusion/?)+$'
);

/** The name that the source of a quantizer had. */
export function sourceName(name: string): string {
  return name.replace(APPENDED, '') || name;
}

/** The operator that this one is a form of; it says nothing of domains where it is one. */
function coreOf(type: string): string | null {
  const bare = type.startsWith('QLinear') ? type.slice(7) : type;
  return (
    FORM_OF.get(bare) ??
    (bare === type && !(bare in OPERATOR_FORMS) ? null : bare)
  );
}

/** The operators of one model, and which nodes only prepare numbers for others. */
export class OperatorForms {
  /** Operator with its domain, or the one that it is a form of. */
  private readonly _core: readonly string[];
  private readonly _bare: readonly string[];
  /** Output that the node only hands on: the input it takes it from, by node; -1 = it computes. */
  private readonly _through: Int32Array;

  constructor(private readonly _model: IGraphModel) {
    const { ops } = _model.payload;
    this._bare = ops.map(({ type }) => type);
    this._core = ops.map(
      ({ domain, type }) =>
        coreOf(type) ?? (ONNX_DOMAINS.has(domain) ? type : `${domain}:${type}`)
    );
    this._through = new Int32Array(_model.nodeCount).fill(-1);
    for (let node = 0; node < _model.nodeCount; node++) {
      this._through[node] = this._handedOn(node);
    }
  }

  /** What the node computes. Nodes that only store numbers otherwise are of a kind of their own. */
  of(node: number): string {
    const core = this._core[this._model.nodeOp[node]] ?? '?';
    return this._through[node] < 0 ? core : `~${core}`;
  }

  /** Whether both are written with the same operator, so that their weights look alike. */
  type(node: number): string {
    return this._bare[this._model.nodeOp[node]] ?? '?';
  }

  /** Whether the node only hands on what it reads, stored otherwise or scaled back. */
  forwardsInput(node: number): boolean {
    return this._through[node] >= 0;
  }

  /** The tensor that was computed: behind nodes that store it otherwise. */
  computed(tensor: number): number {
    const { tensorProducer } = this._model;
    for (
      let at = tensor, steps = 0;
      at >= 0 && steps < MAX_FORWARDING;
      steps++
    ) {
      const maker = tensorProducer[at];
      if (maker < 0 || this._through[maker] < 0) {
        return at;
      }
      at = this._through[maker];
    }
    return tensor;
  }

  /** Which operand an input is: quantized operators have a scale and a zero point after each. */
  operand(node: number, slot: number): number {
    const type = this._bare[this._model.nodeOp[node]] ?? '';
    if (type === 'QLinearConcat') {
      return slot < 2 ? slot : (slot - 2) / 3;
    }
    return type.startsWith('QLinear') && slot % 3 === 0 ? slot / 3 : slot;
  }

  private _handedOn(node: number): number {
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
    // The scales of a product of integers: of its operands, and what brings its result back.
    const makers = [inputs[from], inputs[from + 1]].map(tensor =>
      tensor < 0 ? -1 : tensorProducer[tensor]
    );
    for (const [at, maker] of makers.entries()) {
      if (maker < 0) {
        continue;
      }
      const made = this.type(maker);
      if (made === 'DynamicQuantizeLinear') {
        return inputs[from + at];
      }
      const before = inputs[inputOffsets[maker]] ?? -1;
      const product = before < 0 ? -1 : tensorProducer[before];
      if (
        made === 'Cast' &&
        product >= 0 &&
        /Integer$/.test(this.type(product))
      ) {
        return inputs[from + at];
      }
    }
    return -1;
  }
}

/** Nodes in a row that only store otherwise: more is not a quantizer's work. */
const MAX_FORWARDING = 16;
