import * as React from 'react';
import { formatExact, formatShare } from '../../../core';
import { METRICS } from '../../../schema/metrics';
import { Chart, nodeLabel, type IChartProps } from '../common/Chart';
import { Plot } from '../common/Plot';
import { cumulative } from '../../summary/chartData';
import { useTrans } from '../../i18n/translateContext';

/** Cumulative share of the total after each node. */
export function DepthChart({ model, order }: IChartProps): JSX.Element {
  const trans = useTrans();
  const [index, setIndex] = React.useState(-1);
  const macs = React.useMemo(
    () => cumulative(model, order, 'macs'),
    [model, order]
  );
  const params = React.useMemo(
    () => cumulative(model, order, 'params'),
    [model, order]
  );
  const latency = React.useMemo(
    () => cumulative(model, order, 'latency'),
    [model, order]
  );
  const series = React.useMemo(
    () =>
      [
        { label: METRICS.macs.label(trans), color: 1, filled: true, ...macs },
        { label: METRICS.params.label(trans), color: 2, ...params },
        { label: METRICS.latency.label(trans), color: 3, ...latency }
      ].filter(line => line.values.length > 0),
    [trans, macs, params, latency]
  );
  const describe = (point: number): string =>
    [
      nodeLabel(model, order[point]),
      ...series.map(line => `${line.label} ${formatShare(line.values[point])}`)
    ].join(' · ');
  const lacking = series.filter(({ unknown }) => unknown > 0);
  const about =
    lacking.length > 0
      ? trans.__(
          'Shares of the known total. Nodes with unknown values count as 0: %1.',
          lacking
            .map(({ label, unknown }) => `${label} ${formatExact(unknown)}`)
            .join(', ')
        )
      : trans.__('Cumulative share of the total after each node.');
  return (
    <Chart
      title={trans.__('Depth profile')}
      note={index >= 0 && series.length > 0 ? describe(index) : about}
    >
      {series.length > 0 ? (
        <Plot
          label={trans.__(
            'Cumulative MACs, parameters and latency over the execution'
          )}
          series={series}
          nodes={order}
          max={1}
          format={value => formatShare(value)}
          describe={describe}
          onAt={setIndex}
        />
      ) : (
        <p className="oad-Quiet">{trans.__('No known values.')}</p>
      )}
    </Chart>
  );
}
