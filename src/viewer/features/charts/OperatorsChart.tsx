import * as React from 'react';
import { formatCount, formatExact } from '../../../core';
import type { MetricId } from '../../../core/types';
import { METRICS, SHOWN } from '../../../schema/metrics';
import { formatAmount } from '../table/columns';
import type { ITranslate } from '../../i18n/translate';
import { shortLabel } from '../../ui/safeText';
import { Bars, type IBar } from './Bars';
import { Chart, type IChartProps } from '../common/Chart';
import { byOperator } from '../../summary/chartData';
import { useTrans } from '../../i18n/translateContext';

/** More bars would be unreadable. */
const MAX_BARS = 40;

type OperatorMeasure = MetricId | 'count';

function measures(
  timed: boolean,
  trans: ITranslate
): readonly (readonly [OperatorMeasure, string])[] {
  return [
    ['count', trans.__('Nodes')],
    ...SHOWN.chart
      .filter(id => timed || !METRICS[id].device)
      .map(id => [id, METRICS[id].label(trans)] as const)
  ];
}

/** Totals by operator type. */
export function OperatorsChart({ model, order }: IChartProps): JSX.Element {
  const trans = useTrans();
  const labels = measures(model.latency !== null, trans);
  const [requestedMeasure, setMeasure] =
    React.useState<OperatorMeasure>('count');
  const measure = labels.some(([id]) => id === requestedMeasure)
    ? requestedMeasure
    : 'count';
  const parts = React.useMemo(
    () => byOperator(model, order, measure),
    [model, order, measure]
  );
  const nonEmpty = parts.filter(
    ({ value, unknown }) => value > 0 || unknown > 0
  );
  const bars = nonEmpty
    .slice(0, MAX_BARS)
    .map(({ label, value, unknown, nodes }): IBar => ({
      label: shortLabel(label, 80),
      value,
      // A sum without any known value is not 0, and an incomplete sum is a lower bound.
      text:
        unknown >= nodes.length && value === 0
          ? '—'
          : (unknown > 0 ? '≥ ' : '') +
            (measure === 'count'
              ? formatCount(value)
              : formatAmount(measure, value)),
      title:
        unknown > 0
          ? trans.__(
              '%1 nodes, unknown for %2',
              formatExact(nodes.length),
              formatExact(unknown)
            )
          : trans.__('%1 nodes', formatExact(nodes.length)),
      nodes
    }));
  return (
    <Chart
      title={trans.__('Operators')}
      note={
        nonEmpty.length > MAX_BARS
          ? trans.__(
              'Showing %1 of %2 operator types.',
              MAX_BARS,
              nonEmpty.length
            )
          : trans.__('Click a bar to select its nodes.')
      }
      tools={
        <select
          className="oad-Select"
          aria-label={trans.__('What the bars measure')}
          value={measure}
          onChange={event => {
            const { value } = event.currentTarget;
            setMeasure(labels.find(([id]) => id === value)?.[0] ?? 'count');
          }}
        >
          {labels.map(([id, label]) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </select>
      }
    >
      {bars.length > 0 ? (
        <Bars label={trans.__('Operators')} bars={bars} />
      ) : (
        <p className="oad-Quiet">{trans.__('No data for this metric.')}</p>
      )}
    </Chart>
  );
}
