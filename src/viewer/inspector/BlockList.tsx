import * as React from 'react';
import {
  blocksOf,
  formatConfidence,
  formatCount,
  formatExact,
  type Blocks
} from '../../core';
import { useDocument, useSession, useTrans } from '../context';
import { selectAll } from '../session/selecting';
import type { ITranslate } from '../translate';
import { brief, visible } from '../ui/text';
import { Section, Some } from './parts';
import { sumOf } from './sumOf';

/** What the kinds of structural blocks are called. */
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
    recurrent: trans.__('Recurrent')
  };
  return Object.hasOwn(names, kind) ? names[kind] : visible(kind);
}

/** Structural blocks that a node is part of, smallest first. */
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
  blocks: Blocks | null;
  rows: readonly number[];
}): JSX.Element | null {
  const { title, blocks, rows } = props;
  if (blocks === null || rows.length === 0) {
    return null;
  }
  return (
    <Section title={title} count={rows.length}>
      <ul className="oad-Blocks">
        <Some items={rows} limit={6}>
          {block => (
            <li key={block}>
              <BlockRow blocks={blocks} block={block} />
            </li>
          )}
        </Some>
      </ul>
    </Section>
  );
}

/** One block: what it is, what it costs, how it was recognised; a click selects its nodes. */
function BlockRow(props: { blocks: Blocks; block: number }): JSX.Element {
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
  ].filter(part => part);
  const told = Object.entries(facts).filter(([, value]) => value !== null);
  return (
    <>
      <button
        type="button"
        className="oad-Jump"
        title={trans.__('Select its nodes')}
        onClick={() => {
          selectAll(session, nodes);
          session.stage.surface?.fitEntities(nodes);
        }}
      >
        {kindName(kind, trans)} {formatExact(blocks.number(block))}
        {variant && <span className="oad-Quiet">{brief(variant, 60)}</span>}
      </button>
      <p className="oad-Quiet">{costs.join(' · ')}</p>
      <p className="oad-Quiet">
        {howText(how, trans)} ·{' '}
        {trans.__('confidence %1', formatConfidence(confidence))}
      </p>
      {told.length > 0 && (
        <p className="oad-Quiet">
          {told
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
        : visible(how);
}

/** `kv_heads` as `kv heads`. */
const factName = (name: string): string => brief(name.replace(/_/g, ' '), 40);

function factText(value: string | number | boolean | null): string {
  return typeof value === 'number'
    ? formatExact(value)
    : typeof value === 'string'
      ? brief(value, 60)
      : value
        ? '✓'
        : '✗';
}
