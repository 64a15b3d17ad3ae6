/**
 * Groups that prepare sizes, masks or weights for a box, and the node that a group prepares inputs for.
 */

import * as React from 'react';
import type { ITree } from '../../../core/types';
import { useDocument } from '../../session/sessionContext';
import { chipText } from '../../../core/tree/chips';
import { shortLabel } from '../../ui/safeText';
import { Fact, SelectionLink } from '../common/facts';
import { useTrans } from '../../i18n/translateContext';

/** `Prepared by`: chips on the entity's card, which become boxes when expanded. */
export function Prepared({ entity }: { entity: number }): JSX.Element | null {
  const trans = useTrans();
  const { tree } = useDocument();
  const groups = tree.groupChips.get(entity) ?? [];
  return groups.length === 0 ? null : (
    <Fact label={trans.__('Prepared by')}>
      {groups.map(id => (
        <span key={id}>
          <SelectionLink to={{ kind: 'group', id }}>
            <bdi>{shortLabel(chipText(tree, id), 60)}</bdi>
          </SelectionLink>{' '}
        </span>
      ))}
    </Fact>
  );
}

/** `Operator`: the node for which the rest of the group prepares inputs. */
export function MainNode({ group }: { group: number }): JSX.Element | null {
  const trans = useTrans();
  const { tree } = useDocument();
  const id = tree.groupMain[group];
  return id < 0 ? null : (
    <Fact label={trans.__('Operator')}>
      <SelectionLink to={{ kind: 'node', id }}>
        <bdi>{shortLabel(nodeText(tree, id), 120)}</bdi>
      </SelectionLink>
    </Fact>
  );
}

function nodeText({ model }: ITree, node: number): string {
  return `${model.opType(node)} ${model.nodeName(node)}`.trim();
}
