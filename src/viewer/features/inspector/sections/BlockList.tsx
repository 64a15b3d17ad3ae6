import * as React from 'react';
import {
  blocksOf,
  formatConfidence,
  formatCount,
  formatExact,
  type BlockIndex
} from '../../../../core';
import { useDocument, useSession } from '../../../session/sessionContext';
import { selectAll } from '../../../session/selectionActions';
import type { ITranslate } from '../../../i18n/translate';
import { shortLabel, escapeInvisible } from '../../../ui/safeText';
import { Section, TruncatedList } from '../../common/facts';
import { sumOf } from './sumOf';
import { useTrans } from '../../../i18n/translateContext';
import { ownValue } from '../../../../core/base/ownValue';

/** Display names of the kinds of structural blocks. */
function kindName(kind: string, trans: ITranslate): string {
  const names: Readonly<Record<string, string>> = {
    conv: trans.__('Convolution block'),
    'depthwise-separable': trans.__('Separable convolution'),
    'squeeze-excite': trans.__('Squeeze-and-excite'),
    residual: trans.__('Residual'),
    attention: trans.__('Attention'),
    mlp: trans.__('MLP'),
    'gated-mlp': trans.__('Gated MLP'),
    moe: trans.__('Mixture of experts'),
    normalization: trans.__('Normalization'),
    embedding: trans.__('Embedding'),
    head: trans.__('Head'),
    recurrent: trans.__('Recurrent'),
    'state-space': trans.__('State space')
  };
  return ownValue(names, kind) ?? escapeInvisible(kind);
}

/** Structural blocks that contain a node, smallest first. */
export function BlocksOfNode({ node }: { node: number }): JSX.Element | null {
  const trans = useTrans();
  const { model } = useDocument();
  const blocks = blocksOf(model.payload);
  return (
    <BlockList
      title={trans.__('Part of')}
      blocks={blocks}
      rows={blocks?.of(node) ?? []}
    />
  );
}

/** Structural blocks recognised inside a group. */
export function BlocksOfGroup({
  group
}: {
  group: number;
}): JSX.Element | null {
  const trans = useTrans();
  const { model, tree } = useDocument();
  const blocks = blocksOf(model.payload);
  const rows = React.useMemo(
    () =>
      blocks?.within(
        tree.nodeOrder.subarray(tree.groupStart[group], tree.groupEnd[group])
      ) ?? [],
    [blocks, tree, group]
  );
  return (
    <BlockList
      title={trans.__('Recognised inside')}
      blocks={blocks}
      rows={rows}
    />
  );
}

function BlockList(props: {
  title: string;
  blocks: BlockIndex | null;
  rows: readonly number[];
}): JSX.Element | null {
  const { title, blocks, rows } = props;
  if (blocks === null || rows.length === 0) {
    return null;
  }
  return (
    <Section title={title} count={rows.length}>
      <ul className="oad-Blocks">
        <TruncatedList items={rows} limit={6}>
          {block => (
            <li key={block}>
              <BlockRow blocks={blocks} block={block} />
            </li>
          )}
        </TruncatedList>
      </ul>
    </Section>
  );
}

/** One block: its kind, costs and how it was recognised; a click selects its nodes. */
function BlockRow(props: { blocks: BlockIndex; block: number }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { model } = useDocument();
  const { blocks, block } = props;
  const { kind, variant, how, confidence, facts } = blocks.kind(block);
  const nodes = Array.from(blocks.nodes(block));
  const macs = sumOf(model, nodes, 'macs');
  const params = sumOf(model, nodes, 'params');
  const unknown = macs.unknown > 0 && macs.known === 0;
  const costs = [
    trans._n('%1 node', '%1 nodes', nodes.length),
    unknown
      ? trans.__('MACs unknown')
      : macs.known > 0 &&
        `${macs.unknown > 0 ? '≥ ' : ''}${formatCount(macs.known, 'MACs')}`,
    params.known > 0 &&
      `${params.unknown > 0 ? '≥ ' : ''}${formatCount(params.known, trans.__('params'))}`
  ].filter(text => text);
  const entries = Object.entries(facts).filter(([, value]) => value !== null);
  return (
    <>
      <button
        type="button"
        className="oad-Jump"
        title={trans.__('Select its nodes')}
        onClick={() => {
          selectAll(session, nodes);
          session.graph.surface?.fitEntities(nodes);
        }}
      >
        {kindName(kind, trans)} {formatExact(blocks.number(block))}
        {variant && (
          <span className="oad-Quiet">{shortLabel(variant, 60)}</span>
        )}
      </button>
      <p className="oad-Quiet">{costs.join(' · ')}</p>
      <p className="oad-Quiet">
        {howText(how, trans)} ·{' '}
        {trans.__('confidence %1', formatConfidence(confidence))}
      </p>
      {entries.length > 0 && (
        <p className="oad-Quiet">
          {entries
            .slice(0, 8)
            .map(([name, value]) => `${factName(name)} ${factText(value)}`)
            .join(' · ')}
        </p>
      )}
    </>
  );
}

function howText(how: string, trans: ITranslate): string {
  return how === 'structure'
    ? trans.__('by operators, shapes and wiring')
    : how === 'name'
      ? trans.__('by names')
      : how === 'function'
        ? trans.__('a function of the file')
        : escapeInvisible(how);
}

/** `kv_heads` as `kv heads`. */
const factName = (name: string): string =>
  shortLabel(name.replace(/_/g, ' '), 40);

function factText(value: string | number | boolean | null): string {
  return typeof value === 'number'
    ? formatExact(value)
    : typeof value === 'string'
      ? shortLabel(value, 60)
      : value
        ? '✓'
        : '✗';
}
