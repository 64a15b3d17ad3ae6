import * as React from 'react';
import { useDocument, useTrans } from '../context';
import { brief } from '../ui/text';
import { Jump, Section, Some } from './parts';

/** The model inputs or outputs that share a pill in the picture with this one. */
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
        <bdi>{brief(pattern)}</bdi>
      </p>
      <Jump to={{ kind: 'series', id: members[0] }}>
        {trans.__('Select all')}
      </Jump>
      <ul className="oad-Links">
        <Some items={members}>
          {member => (
            <li key={member}>
              {member === tensor ? (
                <strong>
                  <bdi>{brief(model.tensorName(member), 80)}</bdi>
                </strong>
              ) : (
                <Jump to={{ kind: 'tensor', id: member }}>
                  <bdi>{brief(model.tensorName(member), 80)}</bdi>
                </Jump>
              )}
            </li>
          )}
        </Some>
      </ul>
    </Section>
  );
}
