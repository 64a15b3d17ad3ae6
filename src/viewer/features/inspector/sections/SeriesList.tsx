import * as React from 'react';
import { useDocument } from '../../../session/sessionContext';
import { shortLabel } from '../../../ui/safeText';
import { SelectionLink, Section, TruncatedList } from '../../common/facts';
import { useTrans } from '../../../i18n/translateContext';

/** The model inputs or outputs in the same pill. */
export function SeriesList({ tensor }: { tensor: number }): JSX.Element | null {
  const trans = useTrans();
  const { model, tree } = useDocument();
  const series = tree.series.get(tensor);
  if (!series) {
    return null;
  }
  const { kind, members, pattern } = series;
  return (
    <Section
      title={
        kind === 'input'
          ? trans.__('Grouped inputs')
          : trans.__('Grouped outputs')
      }
      count={members.length}
    >
      <p className="oad-Quiet">
        {trans.__('Names that differ in numbers only:')}{' '}
        <bdi>{shortLabel(pattern)}</bdi>
      </p>
      <SelectionLink to={{ kind: 'series', id: members[0] }}>
        {trans.__('Select all')}
      </SelectionLink>
      <ul className="oad-Links">
        <TruncatedList items={members}>
          {member => (
            <li key={member}>
              {member === tensor ? (
                <strong>
                  <bdi>{shortLabel(model.tensorName(member), 80)}</bdi>
                </strong>
              ) : (
                <SelectionLink to={{ kind: 'tensor', id: member }}>
                  <bdi>{shortLabel(model.tensorName(member), 80)}</bdi>
                </SelectionLink>
              )}
            </li>
          )}
        </TruncatedList>
      </ul>
    </Section>
  );
}
