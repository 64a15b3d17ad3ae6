import * as React from 'react';
import { entityOf } from '../../session/entityNames';
import { boundary, formatExact } from '../../../core';
import type { IGroupTree } from '../../../core';
import { useDocument, useSession } from '../../session/sessionContext';
import { metricOf } from '../../overlays/metricOf';
import { shortLabel } from '../../ui/safeText';
import { BlocksOfGroup } from './sections/BlockList';
import { Breadcrumb } from './Breadcrumb';
import { Costs } from './sections/Costs';
import {
  Fact,
  Facts,
  SelectionLink,
  Section,
  TruncatedList,
  Title
} from '../common/facts';
import { MainNode, Prepared } from './PreparedBy';
import { Tensors } from './sections/Tensors';
import { useActivationTotal } from './useActivationTotal';
import { Histogram } from '../common/Histogram';
import { useTrans } from '../../i18n/translateContext';

/** Number of nodes below a group by operator type, most common first. */
function opHistogram(
  tree: IGroupTree,
  group: number
): [type: string, count: number][] {
  const counts = new Map<string, number>();
  const { nodeOrder, groupStart, groupEnd, model } = tree;
  for (let index = groupStart[group]; index < groupEnd[group]; index++) {
    const type = model.opType(nodeOrder[index]);
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

/** A block: its totals and contents. */
export function GroupInspector({ group }: { group: number }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { model, tree } = useDocument();
  const activationTotal = useActivationTotal();
  const histogram = React.useMemo(
    () => opHistogram(tree, group),
    [tree, group]
  );
  const open = useOpen(group);
  const ends = React.useMemo(() => boundary(tree, group), [tree, group]);
  const entity = entityOf(model, { kind: 'group', id: group }) ?? 0;
  const children = tree.children[group + 1];
  const blocks = children.filter(child => child >= model.nodeCount);
  return (
    <>
      <Title
        kind={
          tree.groupRole[group] || tree.groupType[group] || trans.__('Block')
        }
        name={tree.groupLabel[group]}
      />
      <Breadcrumb tree={tree} entity={entity} />
      <div className="oad-State-row">
        <button
          type="button"
          className="oad-Button"
          onClick={() => void session.activate(entity, false)}
        >
          {open ? trans.__('Collapse') : trans.__('Expand')}
        </button>
      </div>
      <Facts>
        {tree.groupRole[group] && tree.groupType[group] && (
          <Fact label={trans.__('Class')}>
            <bdi>{shortLabel(tree.groupType[group], 120)}</bdi>
          </Fact>
        )}
        <Fact label={trans.__('Nodes')}>
          {formatExact(tree.groupSize[group])}
        </Fact>
        <Fact label={trans.__('Blocks inside')}>
          {formatExact(blocks.length)}
        </Fact>
        <MainNode group={group} />
        <Prepared entity={entity} />
      </Facts>
      <Section title={trans.__('Costs')}>
        <Costs
          metrics={model.payload.metrics}
          activationTotal={activationTotal}
          valueOf={id => metricOf(tree, id, model.nodeCount + group)}
          unknownOf={id => tree.groupUnknown[id][group]}
        />
      </Section>
      <BlockTensors title={trans.__('Inputs')} ids={ends.inputs} side="input" />
      <BlockTensors
        title={trans.__('Outputs')}
        ids={ends.outputs}
        side="output"
      />
      <BlocksOfGroup group={group} />
      <Section title={trans.__('Operators')} count={histogram.length}>
        <Histogram rows={histogram} />
      </Section>
      {blocks.length > 0 && (
        <Section title={trans.__('Blocks')} count={blocks.length}>
          <ul className="oad-Links">
            <TruncatedList items={Array.from(blocks)}>
              {child => {
                const id = child - model.nodeCount;
                return (
                  <li key={child}>
                    <SelectionLink to={{ kind: 'group', id }}>
                      <bdi>{shortLabel(tree.groupLabel[id], 120)}</bdi>
                      <span className="oad-Quiet">
                        {shortLabel(
                          tree.groupRole[id] || tree.groupType[id],
                          80
                        )}
                      </span>
                    </SelectionLink>
                  </li>
                );
              }}
            </TruncatedList>
          </ul>
        </Section>
      )}
    </>
  );
}

/** Whether the block is open, updated with the scene. */
function useOpen(group: number): boolean {
  const { graph, listeners } = useSession();
  return React.useSyncExternalStore(
    React.useCallback(
      onScene => {
        const listener = { onScene };
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      [listeners]
    ),
    () => graph.isOpen(group)
  );
}

/** Tensors that enter or leave a block. */
function BlockTensors(props: {
  title: string;
  ids: readonly number[];
  side: 'input' | 'output';
}): JSX.Element | null {
  const { model } = useDocument();
  const { title, ids, side } = props;
  return ids.length > 0 ? (
    <Section title={title} count={ids.length}>
      <Tensors model={model} ids={ids} roles={[]} side={side} />
    </Section>
  ) : null;
}
