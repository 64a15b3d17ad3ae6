import * as React from 'react';
import { formatExact } from '../../../core';
import { escapeInvisible } from '../../ui/safeText';
import { TruncatedList } from './facts';

/** Bars of operator counts. */
export function Histogram(props: {
  rows: readonly (readonly [string, number])[];
}): JSX.Element {
  const largest = props.rows[0]?.[1] ?? 1;
  return (
    <ul className="oad-Histogram">
      <TruncatedList items={props.rows}>
        {([type, count]) => (
          <li key={type}>
            <bdi>{escapeInvisible(type)}</bdi>
            <span className="oad-Share-bar" aria-hidden="true">
              <span style={{ width: `${(count / largest) * 100}%` }} />
            </span>
            <span className="oad-Number">{formatExact(count)}</span>
          </li>
        )}
      </TruncatedList>
    </ul>
  );
}
