import * as React from 'react';
import { formatExact } from '../../../core';
import type { WeightValues } from '../../../schema';
import { CopyButton } from '../common/CopyButton';
import { shortLabel } from '../../ui/safeText';
import { columnsOf, formatValue, indexText } from './formatValue';
import { useTrans } from '../../i18n/translateContext';

/** The first values, row by row, with exact text and index on hover. */
export function FirstValues(props: { of: WeightValues }): JSX.Element | null {
  const trans = useTrans();
  const { values, indices, shape, stored } = props.of;
  const columns = indices ? 1 : columnsOf(shape);
  const rows: number[] = [];
  for (let start = 0; start < values.length; start += columns) {
    rows.push(start);
  }
  if (values.length === 0) {
    return null;
  }
  const placeOf = (index: number): string =>
    indexText(indices ? indices[index] : index, shape);
  return (
    <div className="oad-First">
      <div className="oad-WeightPlot-head">
        <span className="oad-Quiet">
          {values.length < stored
            ? trans.__(
                'the first %1 of %2 values',
                values.length,
                formatExact(stored)
              )
            : trans._n('the only value', 'all %1 values', values.length)}
        </span>
        <CopyButton
          label={trans.__('Copy these values')}
          text={() => values.map(String).join('\n')}
        />
      </div>
      <div
        className="oad-First-scroll"
        role="region"
        tabIndex={0}
        aria-label={trans.__('First values')}
      >
        <table>
          <tbody>
            {rows.map(start => (
              <tr key={start}>
                <th scope="row">{placeOf(start)}</th>
                {values.slice(start, start + columns).map((value, step) => (
                  <td
                    key={step}
                    title={`${placeOf(start + step)} ${shortLabel(String(value))}`}
                  >
                    {typeof value === 'string' && props.of.zeros === null
                      ? JSON.stringify(shortLabel(value, 80))
                      : formatValue(value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
