import * as React from 'react';
import { formatBytes, formatExact, TENSOR_KIND } from '../../../core';
import type { IGraphModel, MetricId } from '../../../core/types';
import { useDocument, useView } from '../../session/sessionContext';
import {
  entityName,
  selectionOf,
  selectedEntities
} from '../../session/entityNames';
import { descendantNodes } from '../../session/hostSelection';
import { shortLabel } from '../../ui/safeText';
import { tensorBytes } from '../../../core/model/tensorBytes';
import { Costs } from './sections/Costs';
import {
  Fact,
  Facts,
  SelectionLink,
  Section,
  TruncatedList
} from '../common/facts';
import { useActivationTotal } from './useActivationTotal';
import { Histogram } from '../common/Histogram';
import { sumOf } from './sections/sumOf';
import { useTrans } from '../../i18n/translateContext';

/**
 * Weights that the nodes read but that are first used by an earlier node outside. They are counted there,
 * so no sum over these nodes includes them. Each is counted once.
 */
function borrowedWeights(
  model: IGraphModel,
  nodes: readonly number[]
): { readonly count: number; readonly bytes: number } {
  const nodeSet = new Set(nodes);
  const counted = new Set<number>();
  let bytes = 0;
  for (const node of nodes) {
    const end = model.inputOffsets[node + 1];
    for (let k = model.inputOffsets[node]; k < end; k++) {
      const tensor = model.inputs[k];
      if (
        tensor >= 0 &&
        !counted.has(tensor) &&
        model.tensorKind[tensor] === TENSOR_KIND.initializer &&
        !nodeSet.has(model.consumers[model.consumerOffsets[tensor]])
      ) {
        counted.add(tensor);
        bytes += tensorBytes(model, tensor) ?? 0;
      }
    }
  }
  return { count: counted.size, bytes };
}

/** Several selected entities: their totals. */
export function MultiInspector(): JSX.Element {
  const trans = useTrans();
  const { model, tree } = useDocument();
  const activationTotal = useActivationTotal();
  const selection = useView(state => state.selection);
  const moreSelected = useView(state => state.moreSelected);
  const document = useView(state => state.document);
  const { entities, nodes, borrowed, histogram } = React.useMemo(() => {
    const state = { document, selection, moreSelected };
    const selected = selectedEntities(state);
    const below = descendantNodes(tree, selected);
    const counts = new Map<string, number>();
    for (const node of below) {
      const type = model.opType(node);
      counts.set(type, (counts.get(type) ?? 0) + 1);
    }
    return {
      entities: selected,
      nodes: below,
      borrowed: borrowedWeights(model, below),
      histogram: [...counts].sort((a, b) => b[1] - a[1])
    };
  }, [model, tree, document, selection, moreSelected]);
  const sum = (id: MetricId) => sumOf(model, nodes, id);
  return (
    <>
      <header className="oad-Inspector-title">
        <span className="oad-Badge" data-category="group">
          {trans.__('Selection')}
        </span>
        <span className="oad-Inspector-name">
          {trans._n('%1 box', '%1 boxes', entities.length)}
        </span>
      </header>
      <Facts>
        <Fact label={trans.__('Nodes')}>
          {`${formatExact(nodes.length)} / ${formatExact(tree.nodeOrder.length)}`}
        </Fact>
        {borrowed.count > 0 && (
          <Fact
            label={trans.__('Shared constants')}
            note={trans.__(
              'counted where first used, outside the selection; not in the totals below'
            )}
          >
            {`${formatExact(borrowed.count)} (${formatBytes(borrowed.bytes)})`}
          </Fact>
        )}
      </Facts>
      <Section title={trans.__('Total costs')}>
        <Costs
          metrics={model.payload.metrics}
          activationTotal={activationTotal}
          valueOf={id => {
            const { known, unknown } = sum(id);
            return unknown > 0 && known === 0 ? Number.NaN : known;
          }}
          unknownOf={id => sum(id).unknown}
        />
      </Section>
      <Section title={trans.__('Operators')} count={histogram.length}>
        <Histogram rows={histogram} />
      </Section>
      <Section title={trans.__('Selected')} count={entities.length}>
        <ul className="oad-Links">
          <TruncatedList items={entities}>
            {entity => (
              <li key={entity}>
                <SelectionLink to={selectionOf(model, entity)}>
                  <bdi>{shortLabel(entityName(tree, entity), 120)}</bdi>
                </SelectionLink>
              </li>
            )}
          </TruncatedList>
        </ul>
      </Section>
    </>
  );
}
