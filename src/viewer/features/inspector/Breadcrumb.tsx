import * as React from 'react';
import type { ITree } from '../../../core/types';
import { shortLabel } from '../../ui/safeText';
import { SelectionLink } from '../common/facts';
import { useTrans } from '../../i18n/translateContext';

/** Groups around an entity, outermost first. */
export function groupsAround(tree: ITree, entity: number): number[] {
  const { nodeCount } = tree.model;
  const path: number[] = [];
  let group =
    entity < nodeCount
      ? tree.nodeParent[entity]
      : tree.groupParent[entity - nodeCount];
  while (group >= 0) {
    path.unshift(group);
    group = tree.groupParent[group];
  }
  return path;
}

/** The hierarchy above an entity; each part selects its block. */
export function Breadcrumb(props: {
  tree: ITree;
  entity: number;
}): JSX.Element | null {
  const trans = useTrans();
  const { tree } = props;
  const path = groupsAround(tree, props.entity);
  if (path.length === 0) {
    return null;
  }
  return (
    <nav className="oad-Breadcrumb" aria-label={trans.__('Hierarchy')}>
      {path.map(group => (
        <SelectionLink
          key={group}
          to={{ kind: 'group', id: group }}
          title={shortLabel(
            tree.groupRole[group] ||
              tree.groupType[group] ||
              tree.groupLabel[group]
          )}
        >
          <bdi>{shortLabel(tree.groupLabel[group], 60)}</bdi>
        </SelectionLink>
      ))}
    </nav>
  );
}
