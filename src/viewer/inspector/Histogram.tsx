import * as React from 'react';
import { formatExact } from '../../core';
import { visible } from '../ui/text';
import { Some } from './parts';

/** Bars of operator counts. */
export function Histogram(props: {
  rows: readonly (readonly [string, number])[];
}): JSX.Element {
  const most = props.rows[0]?.[1] ?? 1;
  return (
    <ul className="oad-Histogram">
      <Some items={props.rows}>
        {([type, count]) => (
          <li key={type}>
            <bdi>{visible(type)}</bdi>
            <span className="oad-Share-bar" aria-hidden="true">
              <span style={{ width: `${(count / most) * 100}%` }} />
            </span>
            <span className="oad-Number">{formatExact(count)}</span>
          </li>
        )}
      </Some>
    </ul>
  );
}
