/** Synthetic models with typical structures: chains, residuals, shared tensors, experts, subgraphs. */

import type { GraphPayload } from '../../schema';
import { PayloadBuilder } from './builder';

/** Nodes in a row, no scopes. */
export function chainPayload(nodes: number): GraphPayload {
  const b = new PayloadBuilder('chain');
  let x = b.input('x');
  for (let i = 0; i < nodes; i++) {
    [x] = b.add(i % 3 === 0 ? 'Conv' : 'Relu', [x], { macs: 100 });
  }
  b.output(x);
  return b.finish();
}

function convUnit(
  b: PayloadBuilder,
  x: number,
  scope: readonly string[],
  relu: boolean
): number {
  const scopeOf = (module: string) => [...scope, module];
  const w = b.weight('weight', [64, 64, 3, 3]);
  [x] = b.add('Conv', [x, w], {
    scope: scopeOf('convolution:Conv2d'),
    params: 36864,
    macs: 1e6
  });
  [x] = b.add('BatchNormalization', [x], {
    scope: scopeOf('normalization:BatchNorm2d'),
    params: 128
  });
  if (relu) {
    [x] = b.add('Relu', [x], { scope: scopeOf('activation:ReLU') });
  }
  return x;
}

/** Stages of residual blocks with scopes, like ResNet. */
export function resnetPayload(
  stages: readonly number[] = [3, 4, 6, 3]
): GraphPayload {
  const b = new PayloadBuilder('resnet');
  let x = b.input('pixel_values', [1, 3, 224, 224]);
  const model = ['resnet:ResNetModel'];
  x = convUnit(b, x, [...model, 'embedder:ResNetEmbeddings'], true);
  [x] = b.add('MaxPool', [x], {
    scope: [...model, 'embedder:ResNetEmbeddings']
  });
  stages.forEach((blocks, stage) => {
    for (let block = 0; block < blocks; block++) {
      const scope = [
        ...model,
        'encoder:ResNetEncoder',
        `stages.${stage}:ResNetStage`,
        `layers.${block}:ResNetBottleNeckLayer`
      ];
      let y = x;
      for (let unit = 0; unit < 3; unit++) {
        y = convUnit(
          b,
          y,
          [...scope, `layer.${unit}:ResNetConvLayer`],
          unit < 2
        );
      }
      const skip =
        block === 0
          ? convUnit(b, x, [...scope, 'shortcut:ResNetShortCut'], false)
          : x;
      [x] = b.add('Add', [y, skip], { scope });
      [x] = b.add('Relu', [x], { scope: [...scope, 'activation:ReLU'] });
    }
  });
  [x] = b.add('GlobalAveragePool', [x], { scope: [...model, 'pooler:Pool'] });
  [x] = b.add('Flatten', [x], {
    scope: ['classifier:Sequential', '0:Flatten']
  });
  [x] = b.add('Gemm', [x, b.weight('fc', [1000, 2048])], {
    scope: ['classifier:Sequential', '1:Linear'],
    params: 2049000,
    macs: 2048000
  });
  b.output(x);
  return b.finish();
}

function linear(
  b: PayloadBuilder,
  x: number,
  scope: readonly string[],
  bias = true
): number {
  const options = { scope, params: 4096, macs: 65536 };
  [x] = b.add('MatMul', [x, b.weight('w', [64, 64])], options);
  if (bias) {
    [x] = b.add('Add', [x, b.weight('b', [64])], { scope });
  }
  return x;
}

function heads(b: PayloadBuilder, x: number, scope: readonly string[]): number {
  const [shape] = b.add('Constant', [], { scope });
  [x] = b.add('Reshape', [x, shape], { scope });
  return b.add('Transpose', [x], { scope })[0];
}

/** Attention that also reads the `extra` tensors (a mask, rotary tables). */
function attention(
  b: PayloadBuilder,
  x: number,
  scope: readonly string[],
  extra: readonly number[]
): number {
  const project = (module: string) =>
    heads(b, linear(b, x, [...scope, `${module}:Linear`]), scope);
  let q = project('query');
  let k = project('key');
  const v = project('value');
  for (const table of extra.slice(1)) {
    [q] = b.add('Mul', [q, table], { scope });
    [k] = b.add('Mul', [k, table], { scope });
  }
  let [scores] = b.add('MatMul', [q, k], { scope, macs: 4096 });
  [scores] = b.add('Div', [scores], { scope });
  if (extra.length > 0) {
    [scores] = b.add('Add', [scores, extra[0]], { scope });
  }
  [scores] = b.add('Softmax', [scores], { scope });
  const [context] = b.add('MatMul', [scores, v], { scope, macs: 4096 });
  return heads(b, context, scope);
}

/** Encoder layers with a mask that every layer reads, like BERT. */
export function bertPayload(layers = 12): GraphPayload {
  const b = new PayloadBuilder('bert');
  const idsIn = b.input('input_ids', ['batch', 'sequence']);
  const maskIn = b.input('attention_mask', ['batch', 'sequence']);
  const embeddings = ['bert:BertModel', 'embeddings:BertEmbeddings'];
  const [words] = b.add('Gather', [b.weight('words', [30522, 64]), idsIn], {
    scope: [...embeddings, 'word_embeddings:Embedding'],
    params: 30522 * 64
  });
  const [sum] = b.add('Add', [words], { scope: embeddings });
  let [x] = b.add('LayerNormalization', [sum], {
    scope: [...embeddings, 'LayerNorm:LayerNorm']
  });
  let [mask] = b.add('Unsqueeze', [maskIn], { scope: ['bert:BertModel'] });
  [mask] = b.add('Cast', [mask], { scope: ['bert:BertModel'] });
  [mask] = b.add('Mul', [mask], { scope: ['bert:BertModel'] });
  for (let layer = 0; layer < layers; layer++) {
    const scope = [
      'bert:BertModel',
      'encoder:BertEncoder',
      `layer.${layer}:BertLayer`
    ];
    const attentionScope = [...scope, 'attention:BertAttention'];
    const self = attention(
      b,
      x,
      [...attentionScope, 'self:BertSelfAttention'],
      [mask]
    );
    const outputScope = [...attentionScope, 'output:BertSelfOutput'];
    const projected = linear(b, self, [...outputScope, 'dense:Linear']);
    const [residual] = b.add('Add', [projected, x], { scope: outputScope });
    [x] = b.add('LayerNormalization', [residual], { scope: outputScope });
    const up = linear(b, x, [...scope, 'intermediate:BertIntermediate']);
    const [gelu] = b.add('Gelu', [up], {
      scope: [...scope, 'intermediate:BertIntermediate']
    });
    const end = [...scope, 'output:BertOutput'];
    const down = linear(b, gelu, [...end, 'dense:Linear']);
    const [total] = b.add('Add', [down, x], { scope: end });
    [x] = b.add('LayerNormalization', [total], { scope: end });
  }
  b.output(x);
  return b.finish();
}

/** One feed-forward block: gate and up projections, product, down projection. */
function feedForward(
  b: PayloadBuilder,
  x: number,
  scope: readonly string[]
): number {
  const gate = linear(b, x, [...scope, 'gate_proj:Linear'], false);
  const [sigmoid] = b.add('Sigmoid', [gate], {
    scope: [...scope, 'act_fn:SiLU']
  });
  const [silu] = b.add('Mul', [gate, sigmoid], {
    scope: [...scope, 'act_fn:SiLU']
  });
  const up = linear(b, x, [...scope, 'up_proj:Linear'], false);
  const [product] = b.add('Mul', [silu, up], { scope });
  return linear(b, product, [...scope, 'down_proj:Linear'], false);
}

function rmsNorm(
  b: PayloadBuilder,
  x: number,
  scope: readonly string[]
): number {
  const [square] = b.add('Pow', [x], { scope });
  const [mean] = b.add('ReduceMean', [square], { scope });
  const [shifted] = b.add('Add', [mean], { scope });
  const [root] = b.add('Sqrt', [shifted], { scope });
  const [inverse] = b.add('Reciprocal', [root], { scope });
  const [scaled] = b.add('Mul', [x, inverse], { scope });
  return b.add('Mul', [scaled, b.weight('w', [64])], { scope, params: 64 })[0];
}

/**
 * Decoder layers that all read the same `shared` tensors (mask and rotary tables), like Llama; with
 * `experts` > 0, parallel experts replace the feed-forward block. Has about 49 nodes per layer without
 * experts, and 73 with 13 shared tensors.
 */
export function llamaPayload(
  layers: number,
  shared = 0,
  experts = 0
): GraphPayload {
  const b = new PayloadBuilder('llama');
  const ids = b.input('input_ids', ['batch', 'sequence']);
  const model = ['model:LlamaModel'];
  let [x] = b.add('Gather', [b.weight('embed', [32000, 64]), ids], {
    scope: [...model, 'embed_tokens:Embedding'],
    params: 32000 * 64
  });
  const extra = Array.from(
    { length: shared },
    () => b.add('Cos', [ids], { scope: [...model, 'rotary_emb:Rotary'] })[0]
  );
  for (let layer = 0; layer < layers; layer++) {
    const scope = [...model, `layers.${layer}:LlamaDecoderLayer`];
    const normed = rmsNorm(b, x, [...scope, 'input_layernorm:LlamaRMSNorm']);
    const attentionScope = [...scope, 'self_attn:LlamaAttention'];
    const context = attention(b, normed, attentionScope, extra);
    const output = linear(
      b,
      context,
      [...attentionScope, 'o_proj:Linear'],
      false
    );
    [x] = b.add('Add', [x, output], { scope });
    const post = rmsNorm(b, x, [
      ...scope,
      'post_attention_layernorm:LlamaRMSNorm'
    ]);
    const mlp = [...scope, 'mlp:LlamaMLP'];
    const [mixed] = [
      experts > 0 ? mixture(b, post, mlp, experts) : feedForward(b, post, mlp)
    ];
    [x] = b.add('Add', [x, mixed], { scope });
  }
  x = rmsNorm(b, x, [...model, 'norm:LlamaRMSNorm']);
  x = linear(b, x, ['lm_head:Linear'], false);
  b.output(x);
  return b.finish();
}

/** A repeat of `count` instances, each a norm, a feed-forward block of two nodes and a sum. */
export function repeatPayload(count: number): GraphPayload {
  const b = new PayloadBuilder('repeat');
  const ids = b.input('input_ids');
  let [x] = b.add('Gather', [b.weight('embed', [100, 16]), ids]);
  for (let repeat = 0; repeat < count; repeat++) {
    const scope = [`Layer ×${count}::repeat`, `layers.${repeat}:Layer`];
    const [normed] = b.add('LayerNormalization', [x], { scope });
    const mlp = [...scope, 'mlp:Mlp'];
    const [wide] = b.add('MatMul', [normed, b.weight('w', [16, 16])], {
      scope: mlp,
      macs: 256
    });
    const [active] = b.add('Relu', [wide], { scope: mlp });
    [x] = b.add('Add', [x, active], { scope });
  }
  const [end] = b.add('Softmax', [x]);
  b.output(end);
  return b.finish();
}

function mixture(
  b: PayloadBuilder,
  x: number,
  scope: readonly string[],
  experts: number
): number {
  const logits = linear(b, x, [...scope, 'gate:Linear'], false);
  const [weights] = b.add('Softmax', [logits], { scope });
  const parts = Array.from({ length: experts }, (_, e) => {
    const expertScope = [...scope, `experts.${e}:LlamaMLP`];
    return b.add('Mul', [feedForward(b, x, expertScope), weights], {
      scope: expertScope
    })[0];
  });
  return b.add('Sum', parts, { scope })[0];
}

/** An If with two branches, and a Loop whose subgraph reads an outer tensor. */
export function controlPayload(): GraphPayload {
  const b = new PayloadBuilder('control');
  const x = b.input('x');
  const condition = b.input('condition', []);
  const [a] = b.add('Relu', [x], { scope: ['front'] });
  const [c] = b.add('Exp', [a], { scope: ['front'] });
  const [output] = b.add('If', [condition], { name: '/decide/If' });
  const decision = b.lastNode;
  const thenBranch = b.body(decision, 'then_branch', ['then_scope']);
  const [t1] = b.add('Mul', [c, a], {
    scope: ['then_scope'],
    graph: thenBranch
  });
  const [t2] = b.add('Tanh', [t1], {
    scope: ['then_scope'],
    graph: thenBranch
  });
  b.output(t2, thenBranch);
  const other = b.body(decision, 'else_branch', ['else_scope']);
  const [e1] = b.add('Neg', [c], { scope: ['else_scope'], graph: other });
  b.output(e1, other);
  const [trips] = b.add('Constant', []);
  const [result] = b.add('Loop', [trips, condition, output], {
    name: 'repeat'
  });
  const loop = b.lastNode;
  const body = b.body(loop, 'body', ['body_scope']);
  const iteration = b.input('i', [], body);
  const goOn = b.input('go_on', [], body);
  const state = b.input('state', [1, 16], body);
  const [s1] = b.add('Add', [state, a], { scope: ['body_scope'], graph: body });
  const [s2] = b.add('Mul', [s1, iteration], {
    scope: ['body_scope'],
    graph: body
  });
  const [nextCondition] = b.add('Identity', [goOn], {
    scope: ['body_scope'],
    graph: body
  });
  b.output(nextCondition, body);
  b.output(s2, body);
  const [y] = b.add('Sigmoid', [result]);
  b.output(y);
  return b.finish();
}
