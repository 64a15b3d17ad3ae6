/** The model in words, in full: inputs and outputs with their roles, stages, findings, origin. */

import * as React from 'react';
import { formatExact, formatShape, formatShare } from '../../../../core';
import type { Identity, IdentityValue } from '../../../../schema';
import { useDocument, useSession } from '../../../session/sessionContext';
import { displayedEntity } from '../../../../core/tree/chips';
import { showTab } from '../../../session/panels';
import { shortLabel, escapeInvisible } from '../../../ui/safeText';
import {
  reasonsOf,
  shapeNow,
  tensorOf
} from '../../../summary/modelDescription';
import {
  Fact,
  Facts,
  SelectionLink,
  Name,
  Section,
  TruncatedList
} from '../../common/facts';
import { stagesOf } from '../../../summary/costStages';
import type { IGroupTree } from '../../../../core/tree/treeTypes';
import { useTrans } from '../../../i18n/translateContext';

const TOP_FINDINGS = 3;

/** Task, family, size and precision of the model. */
export function ModelFacts({ identity }: { identity: Identity }): JSX.Element {
  const trans = useTrans();
  const [task, family, precision] = reasonsOf(identity, trans);
  return (
    <Facts>
      {[task, family].map(({ about, label, text, certainty: known }) => (
        <Fact key={about} label={label} note={known}>
          {text}
        </Fact>
      ))}
      <Fact label={trans.__('Parameters')}>
        {formatExact(identity.parameters)}
      </Fact>
      <Fact label={precision.label}>{precision.text}</Fact>
    </Facts>
  );
}

/** Inputs or outputs with their roles, most informative first. */
export function Ports(props: {
  title: string;
  values: readonly IdentityValue[];
  ids: readonly number[];
}): JSX.Element {
  const trans = useTrans();
  const { payload } = useDocument().model;
  const { title, values, ids } = props;
  return (
    <Section title={title} count={values.length}>
      <ul className="oad-Tensors">
        <TruncatedList items={values}>
          {(value, index) => {
            const id = tensorOf(payload, ids, value);
            const name = <Name text={value.name} />;
            const role = value.role || trans.__('role unknown');
            return (
              <li key={index}>
                <div className="oad-Tensor">
                  {id < 0 ? (
                    name
                  ) : (
                    <SelectionLink to={{ kind: 'tensor', id }}>
                      {name}
                    </SelectionLink>
                  )}
                  <span className="oad-Quiet">
                    {value.likely ? trans.__('probably %1', role) : role}
                  </span>
                  <span className="oad-Shape">
                    {escapeInvisible(value.elem_type)}{' '}
                    <bdi>
                      {shortLabel(formatShape(shapeNow(payload, ids, value)))}
                    </bdi>
                  </span>
                </div>
              </li>
            );
          }}
        </TruncatedList>
      </ul>
    </Section>
  );
}

/** A block's label, or an operator with its name, to distinguish several of one type. */
function stageName(tree: IGroupTree, entity: number): string {
  const { model } = tree;
  const face = displayedEntity(tree, entity);
  return face < model.nodeCount
    ? `${model.opType(face)} ${model.nodeName(face)}`.trim()
    : tree.groupLabel[face - model.nodeCount];
}

/** The boxes that share the work, with their shares. */
export function Stages(): JSX.Element | null {
  const trans = useTrans();
  const { model, tree } = useDocument();
  const { nodeCount } = model;
  const metric = model.payload.metrics.total_macs ? 'macs' : 'params';
  const stages = React.useMemo(() => stagesOf(tree, metric), [tree, metric]);
  if (stages.length < 2) {
    return null;
  }
  return (
    <Section
      title={
        metric === 'macs'
          ? trans.__('Stages by MACs')
          : trans.__('Stages by parameters')
      }
      count={stages.length}
    >
      <ul className="oad-Histogram oad-Stages">
        {stages.map(({ entity, share }) => (
          <li key={entity}>
            <SelectionLink
              to={
                entity < nodeCount
                  ? { kind: 'node', id: entity }
                  : { kind: 'group', id: entity - nodeCount }
              }
            >
              <bdi>{shortLabel(stageName(tree, entity), 80)}</bdi>
            </SelectionLink>
            <span className="oad-Share-bar" aria-hidden="true">
              <span style={{ width: `${share * 100}%` }} />
            </span>
            <span className="oad-Number">{formatShare(share)}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** The most severe findings; the bottom panel has all of them. */
export function TopFindings(): JSX.Element | null {
  const trans = useTrans();
  const session = useSession();
  const { risk_signals: findings } = useDocument().model.payload;
  if (findings.length === 0) {
    return null;
  }
  return (
    <Section title={trans.__('Findings')} count={findings.length}>
      <ul className="oad-Evidence">
        {findings.slice(0, TOP_FINDINGS).map(({ description }, index) => (
          <li key={index}>{shortLabel(description, 240)}</li>
        ))}
      </ul>
      <button
        type="button"
        className="oad-More"
        onClick={() => showTab(session, 'findings')}
      >
        {trans.__('Show the findings')}
      </button>
    </Section>
  );
}
