import * as React from 'react';
import type { Description } from '../../../../schema';
import { shortLabel } from '../../../ui/safeText';
import { Name, Section, TruncatedList } from '../../common/facts';
import { useTrans } from '../../../i18n/translateContext';

/** Doc strings and metadata of graphs, inputs, outputs, weights, values and functions. */
export function Descriptions(props: {
  descriptions: readonly Description[];
  /** Number in the model; the list may be shorter. */
  count: number;
}): JSX.Element | null {
  const trans = useTrans();
  if (props.descriptions.length === 0) {
    return null;
  }
  return (
    <Section
      title={trans.__('Documentation of Parts')}
      count={props.count}
      closed
    >
      <dl className="oad-Entries">
        <TruncatedList items={props.descriptions} of="fact">
          {(one, index) => (
            <div key={index}>
              <dt>{`${one.kind} ${shortLabel(one.name, 120)}`}</dt>
              {one.doc_string && (
                <dd>
                  <Name text={one.doc_string} />
                </dd>
              )}
              {Object.entries(one.metadata).map(([key, value]) => (
                <dd key={key}>
                  <Name text={`${key}: ${value}`} />
                </dd>
              ))}
            </div>
          )}
        </TruncatedList>
      </dl>
    </Section>
  );
}
