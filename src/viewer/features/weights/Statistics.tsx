import * as React from 'react';
import { formatExact, formatShare } from '../../../core';
import type { WeightValues } from '../../../schema';
import { Fact, Facts } from '../common/facts';
import type { ITranslate } from '../../i18n/translate';
import { Icon } from '../../ui/Icon';
import { shortLabel } from '../../ui/safeText';
import { FirstValues } from './FirstValues';
import { formatValue } from './formatValue';
import { Histogram } from './Histogram';
import { useTrans } from '../../i18n/translateContext';
import { ownValue } from '../../../core/base/ownValue';

/** Values of one constant: statistics, histogram, and the first values. */
export function Statistics({ of }: { of: WeightValues }): JSX.Element {
  const trans = useTrans();
  return (
    <>
      {of.histogram && (
        <Histogram histogram={of.histogram} bool={of.elem_type === 'bool'} />
      )}
      <InvalidValues of={of} />
      <Facts>
        {of.sparse && (
          <Fact
            label={trans.__('Stored')}
            note={trans.__(
              'all others are 0; statistics cover the stored elements'
            )}
          >
            {trans.__(
              '%1 of %2 elements',
              formatExact(of.stored),
              formatExact(of.elements)
            )}
          </Fact>
        )}
        <Moments of={of} />
        {of.zeros !== null && (
          <Fact
            label={
              of.elem_type === 'bool' ? trans.__('False') : trans.__('Zeros')
            }
          >
            {countText(of.zeros, of.stored)}
          </Fact>
        )}
        <Distinct of={of} />
        <Fact label={trans.__('Stored in')}>{placeText(of, trans)}</Fact>
      </Facts>
      {of.elem_type === 'string' && of.values.length < of.stored && (
        <p className="oad-Quiet">
          {trans.__('Texts of 4 KiB or more are not read.')}
        </p>
      )}
      <FirstValues of={of} />
    </>
  );
}

function Moments({ of }: { of: WeightValues }): JSX.Element | null {
  const trans = useTrans();
  if (of.min === null || of.max === null || of.elem_type === 'bool') {
    return null;
  }
  return (
    <>
      <Fact label={trans.__('Range')}>
        <Exact value={of.min} /> {trans.__('to')} <Exact value={of.max} />
      </Fact>
      <Fact label={trans.__('Mean')}>
        {of.mean === null ? trans.__('too large') : <Exact value={of.mean} />}
      </Fact>
      <Fact label={trans.__('Std. deviation')}>
        {of.std === null ? trans.__('too large') : <Exact value={of.std} />}
      </Fact>
      <Quantiles of={of} />
    </>
  );
}

function Quantiles({ of }: { of: WeightValues }): JSX.Element {
  const trans = useTrans();
  const { quantiles } = of;
  if (!quantiles) {
    return (
      <Fact label={trans.__('Median')}>
        {trans.__('not computed for a tensor of this size')}
      </Fact>
    );
  }
  const pair = (low: string, high: string): JSX.Element => (
    <>
      <Exact value={ownValue(quantiles, low) ?? ''} /> {trans.__('to')}{' '}
      <Exact value={ownValue(quantiles, high) ?? ''} />
    </>
  );
  return (
    <>
      <Fact label={trans.__('Median')}>
        <Exact value={quantiles['0.5']} />
      </Fact>
      <Fact label={trans.__('Middle 50 %')}>{pair('0.25', '0.75')}</Fact>
      <Fact label={trans.__('Middle 98 %')}>{pair('0.01', '0.99')}</Fact>
    </>
  );
}

function Distinct({ of }: { of: WeightValues }): JSX.Element | null {
  const trans = useTrans();
  if (of.min === null || of.elem_type === 'bool') {
    return null;
  }
  return (
    <Fact label={trans.__('Distinct')}>
      {of.distinct === null
        ? trans.__('more than %1', formatExact(1024))
        : formatExact(of.distinct)}
    </Fact>
  );
}

/** Warns of values that no valid weight has. */
function InvalidValues({ of }: { of: WeightValues }): JSX.Element | null {
  const trans = useTrans();
  if (!of.nan && !of.inf) {
    return null;
  }
  return (
    <p className="oad-Weights-alarm">
      <Icon name="warning" size={14} />
      <span>
        {trans.__(
          'NaN values: %1, infinite values: %2. The statistics exclude them.',
          formatExact(of.nan ?? 0),
          formatExact(of.inf ?? 0)
        )}
      </span>
    </p>
  );
}

/** Six digits; all digits on hover. */
function Exact({ value }: { value: number | string }): JSX.Element {
  return (
    <span className="oad-Number" title={String(value)}>
      {formatValue(value)}
    </span>
  );
}

function countText(count: number, total: number): string {
  return total > 0 && count > 0
    ? `${formatExact(count)} (${formatShare(count / total)})`
    : formatExact(count);
}

function placeText(of: WeightValues, trans: ITranslate): string {
  const file =
    of.storage === 'external'
      ? shortLabel(of.location, 80)
      : trans.__('the model file');
  return of.offset === null
    ? file
    : trans.__('%1, from byte %2', file, formatExact(of.offset));
}
