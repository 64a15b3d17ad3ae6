import * as React from 'react';
import {
  formatBytes,
  formatConfidence,
  formatExact,
  formatShare
} from '../../../../core';
import type { IGroupTree } from '../../../../core';
import type {
  AttentionGroup,
  KVCacheInfo,
  QuantizationInfo,
  RepeatColumns
} from '../../../../schema';
import { useDocument, useSession } from '../../../session/sessionContext';
import { selectNodes } from '../../../session/hostSelection';
import type { ITranslate } from '../../../i18n/translate';
import { shortLabel, escapeInvisible } from '../../../ui/safeText';
import {
  Fact,
  Facts,
  SelectionLink,
  Section,
  TruncatedList
} from '../../common/facts';
import { useTrans } from '../../../i18n/translateContext';

/** Architecture, attention, cache and repeated blocks. */
export function ArchitectureSections(): JSX.Element {
  const { payload } = useDocument().model;
  const { attention } = payload.metrics;
  const cache = payload.memory.kv_cache;
  return (
    <>
      <Verdict />
      {attention && attention.num_layers > 0 && <Attention />}
      {cache && cache.source !== 'none' && <Cache cache={cache} />}
      {payload.repeats.count.length > 0 && <Repeats />}
    </>
  );
}

/** Families are identifiers of the report; unknown ones are shown as they are. */
function familyText(family: string, trans: ITranslate): string {
  const words: ReadonlyMap<string, string> = new Map([
    ['cnn', trans.__('Convolutional network')],
    ['transformer-encoder', trans.__('Transformer encoder')],
    ['transformer-decoder', trans.__('Transformer decoder')],
    ['encoder-decoder', trans.__('Encoder and decoder')],
    ['detector', trans.__('Detector')],
    ['segmenter', trans.__('Segmentation network')],
    ['recurrent', trans.__('Recurrent network')],
    ['state-space', trans.__('State space model')],
    ['mlp', trans.__('Multilayer perceptron')],
    ['fourier', trans.__('Fourier-mixing network')],
    ['graph', trans.__('Graph neural network')],
    ['hybrid', trans.__('Hybrid')],
    ['classical-ml', trans.__('Classical machine learning')],
    ['unknown', trans.__('Not recognised')]
  ]);
  return words.get(family) ?? escapeInvisible(family);
}

/** Quantization of the layers: `int8 weights, uint8 activations (QDQ), 53 of 54 layers, 99.9 % of the MACs`. */
function quantizationText(
  quantization: QuantizationInfo,
  trans: ITranslate
): string {
  if (!quantization.quantized) {
    return trans.__('None');
  }
  const kinds = [
    trans.__('%1 weights', quantization.weights.map(escapeInvisible).join('/'))
  ];
  if (quantization.activations.length > 0) {
    kinds.push(
      trans.__(
        '%1 activations',
        quantization.activations.map(escapeInvisible).join('/')
      )
    );
  }
  const schemes = Object.keys(quantization.schemes)
    .map(escapeInvisible)
    .join(', ');
  const parts = [
    `${kinds.join(', ')} (${schemes})`,
    trans.__(
      '%1 of %2 layers',
      quantization.layers,
      quantization.layers_total ?? quantization.layers
    )
  ];
  if (quantization.macs_share !== null) {
    parts.push(
      trans.__('%1 of the MACs', formatShare(quantization.macs_share))
    );
  }
  return parts.join(', ');
}

function Verdict(): JSX.Element | null {
  const trans = useTrans();
  const session = useSession();
  const { architecture } = useDocument().model.payload;
  if (architecture === null) {
    return null;
  }
  const hasFamily = architecture.family !== 'unknown';
  const quantization = architecture.quantization ?? null;
  const notQuantized = quantization?.not_quantized ?? [];
  return (
    <Section title={trans.__('Architecture')}>
      <Facts>
        <Fact label={trans.__('Kind')}>
          {familyText(architecture.family, trans)}
        </Fact>
        {hasFamily && (
          <Fact label={trans.__('Confidence')}>
            {formatConfidence(architecture.confidence)}
          </Fact>
        )}
        {quantization && (
          <Fact label={trans.__('Quantization')}>
            {quantizationText(quantization, trans)}
          </Fact>
        )}
        {notQuantized.length > 0 && (
          <Fact label={trans.__('Not quantized')}>
            <button
              type="button"
              className="oad-Jump"
              onClick={() => selectNodes(session, notQuantized)}
            >
              {trans._n('%1 layer', '%1 layers', notQuantized.length)}
            </button>
          </Fact>
        )}
      </Facts>
      {architecture.evidence.length > 0 && (
        <ul className="oad-Evidence" aria-label={trans.__('Evidence')}>
          <TruncatedList items={architecture.evidence}>
            {(line, index) => <li key={index}>{shortLabel(line, 400)}</li>}
          </TruncatedList>
        </ul>
      )}
    </Section>
  );
}

/** A number, or text if layers differ; a dash if the graph does not tell. */
function valueText(value: number | string | null): string {
  return typeof value === 'number'
    ? formatExact(value)
    : value === null
      ? '—'
      : shortLabel(value, 80);
}

function Attention(): JSX.Element | null {
  const trans = useTrans();
  const { attention } = useDocument().model.payload.metrics;
  if (attention === null) {
    return null;
  }
  const many = attention.groups.length > 1;
  const causal =
    attention.unknown_causal_layers > 0
      ? trans.__(
          '%1, unknown for %2',
          attention.causal_layers,
          attention.unknown_causal_layers
        )
      : formatExact(attention.causal_layers);
  return (
    <Section title={trans.__('Attention')} count={attention.num_layers}>
      <Facts>
        <Fact label={trans.__('Layers')}>
          {trans.__(
            '%1 (%2 self, %3 cross)',
            attention.num_layers,
            attention.self_layers,
            attention.cross_layers
          )}
        </Fact>
        <Fact label={trans.__('Causal layers')}>{causal}</Fact>
        {attention.mechanism && (
          <Fact label={trans.__('Mechanism')}>
            {escapeInvisible(attention.mechanism)}
          </Fact>
        )}
        <Fact label={trans.__('Heads')}>{valueText(attention.num_heads)}</Fact>
        <Fact label={trans.__('Key/value heads')}>
          {valueText(attention.num_kv_heads)}
        </Fact>
        <Fact label={trans.__('Head size')}>
          {valueText(attention.head_dim)}
        </Fact>
        <Fact label={trans.__('Hidden size')}>
          {valueText(attention.hidden_size)}
        </Fact>
        <Fact
          label={trans.__('Longest sequence')}
          note={shortLabel(attention.max_sequence_length_reason, 300)}
        >
          {valueText(attention.max_sequence_length)}
        </Fact>
        {attention.window_layers > 0 && (
          <Fact
            label={trans.__('Attention window')}
            note={trans.__(
              'Keys that a query sees at most, in %1 of %2 layers',
              attention.window_layers,
              attention.num_layers
            )}
          >
            {valueText(attention.attention_window)}
          </Fact>
        )}
      </Facts>
      <ul className="oad-Links">
        <TruncatedList items={attention.groups}>
          {(group, index) => (
            <li key={index}>
              <AttentionGroupLink group={group} />
              {many && (
                <span className="oad-Quiet">
                  {' '}
                  {trans.__(
                    '%1 heads, %2 key/value heads of %3',
                    valueText(group.num_heads),
                    valueText(group.num_kv_heads),
                    valueText(group.head_dim)
                  )}
                </span>
              )}
            </li>
          )}
        </TruncatedList>
      </ul>
    </Section>
  );
}

/** Selects the attention layers of one configuration. */
function AttentionGroupLink({ group }: { group: AttentionGroup }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const about = [
    group.kind === 'cross'
      ? trans.__('cross-attention')
      : group.kind === 'self'
        ? trans.__('self-attention')
        : trans.__('attention'),
    group.causal ? trans.__('causal') : '',
    group.fused ? trans.__('fused') : '',
    group.rotary ? trans.__('rotary') : '',
    group.relative_bias ? trans.__('relative bias') : '',
    group.cached ? trans.__('cached') : ''
  ];
  return (
    <button
      type="button"
      className="oad-Jump"
      disabled={group.nodes.length === 0}
      onClick={() => selectNodes(session, group.nodes)}
    >
      {trans.__(
        'Show %1 × %2',
        group.count,
        about.filter(word => word).join(', ')
      )}
    </button>
  );
}

function Cache({ cache }: { cache: KVCacheInfo }): JSX.Element {
  const trans = useTrans();
  const estimated = cache.source === 'estimated';
  return (
    <Section title={trans.__('KV cache')} count={cache.num_layers}>
      <Facts>
        <Fact
          label={trans.__('Per token')}
          note={shortLabel(
            cache.bytes_per_token === null ? cache.reason : '',
            300
          )}
        >
          {formatBytes(cache.bytes_per_token)}
        </Fact>
        <Fact
          label={trans.__('Full context')}
          note={shortLabel(
            cache.context_bytes === null ? cache.context_reason : '',
            300
          )}
        >
          {formatBytes(cache.context_bytes)}
          {cache.context_length !== null &&
            ` (${trans.__('%1 positions', formatExact(cache.context_length))})`}
        </Fact>
        <Fact label={trans.__('Heads × size')}>
          {valueText(cache.kv_heads)} × {valueText(cache.head_dim)}
        </Fact>
        {cache.elem_type && (
          <Fact label={trans.__('Type')}>
            {escapeInvisible(cache.elem_type)}
          </Fact>
        )}
        <Fact label={trans.__('Source')}>
          {estimated
            ? trans.__(
                'estimated from causal attention, confidence %1',
                formatConfidence(cache.confidence)
              )
            : trans.__('cache inputs of the graph')}
        </Fact>
      </Facts>
      <p className="oad-Quiet">{trans.__('For one sequence (batch 1).')}</p>
    </Section>
  );
}

/** The box of each repeat, which has its name, in the same order; -1 if it has none. */
function repeatBoxes(
  tree: IGroupTree,
  { name, count }: RepeatColumns
): readonly number[] {
  const usedGroups = new Set<number>();
  return name.map((text, index) => {
    const label = `${text} ×${count[index]}`;
    const match = tree.groupLabel.findIndex(
      (groupLabel, group) =>
        tree.groupIsRepeat[group] === 1 &&
        !usedGroups.has(group) &&
        (groupLabel === label || groupLabel.endsWith(` / ${label}`))
    );
    usedGroups.add(match);
    return match;
  });
}

function Repeats(): JSX.Element {
  const trans = useTrans();
  const { tree, model } = useDocument();
  const { repeats } = model.payload;
  const rows = repeats.count.map((count, index) => ({
    count,
    size: repeats.size[index],
    name: repeats.name[index]
  }));
  const boxes = repeatBoxes(tree, repeats);
  return (
    <Section title={trans.__('Repeated parts')} count={rows.length}>
      <ul className="oad-Links">
        <TruncatedList items={rows}>
          {({ count, size, name }, index) => (
            <li key={index}>
              {boxes[index] < 0 ? (
                <>
                  <bdi>{shortLabel(name, 120)}</bdi> ×{count}
                </>
              ) : (
                <SelectionLink to={{ kind: 'group', id: boxes[index] }}>
                  <bdi>{shortLabel(name, 120)}</bdi> ×{count}
                </SelectionLink>
              )}{' '}
              <span className="oad-Quiet">
                {trans._n('%1 node each', '%1 nodes each', size)}
              </span>
            </li>
          )}
        </TruncatedList>
      </ul>
    </Section>
  );
}
