import * as React from 'react';
import { formatCount, formatExact, formatShare } from '../../../core';
import { Bars, type IBar } from './Bars';
import { Chart, type IChartProps } from '../common/Chart';
import { paramBins } from '../../summary/chartData';
import { useTrans } from '../../i18n/translateContext';

/** Number of layers by their number of parameters. */
export function ParametersChart({ model, order }: IChartProps): JSX.Element {
  const trans = useTrans();
  const bins = React.useMemo(() => paramBins(model, order), [model, order]);
  const total = bins.reduce((sum, { params }) => sum + params, 0);
  const bars = bins.map(({ from, params, nodes }): IBar => ({
    label: `${formatCount(from)} – ${formatCount(from * 10)}`,
    value: nodes.length,
    text: trans.__(
      '%1 · %2',
      formatExact(nodes.length),
      formatShare(params / total)
    ),
    title: trans.__(
      '%1 layers with %2 parameters in all',
      formatExact(nodes.length),
      formatExact(params)
    ),
    nodes
  }));
  return (
    <Chart
      title={trans.__('Parameters by layer')}
      note={trans.__(
        'Layers by number of parameters, and their share of all parameters.'
      )}
    >
      {bars.length > 0 ? (
        <Bars label={trans.__('Parameters by layer')} bars={bars} />
      ) : (
        <p className="oad-Quiet">{trans.__('No layer has parameters.')}</p>
      )}
    </Chart>
  );
}
