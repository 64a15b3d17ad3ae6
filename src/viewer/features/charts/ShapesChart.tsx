import * as React from 'react';
import { formatCount, formatExact } from '../../../core';
import { Chart, nodeLabel, type IChartProps } from '../common/Chart';
import { Plot, type IPlotSeries } from '../common/Plot';
import { AXES, shapeEvolution } from '../../summary/chartData';
import { mainOutput } from '../../../core/model/decodePayload';
import { useTrans } from '../../i18n/translateContext';

/** Size of each node's output. */
export function ShapesChart({ model, order }: IChartProps): JSX.Element {
  const trans = useTrans();
  const [index, setIndex] = React.useState(-1);
  const shapes = React.useMemo(
    () => shapeEvolution(model, order),
    [model, order]
  );
  const series = React.useMemo((): IPlotSeries[] => {
    const axes = AXES.map((axis, i) => ({
      label: trans.__('Axis %1', axis),
      values: shapes.axes[i],
      color: i + 2
    }));
    return [
      {
        label: trans.__('Elements'),
        values: shapes.elements,
        color: 1,
        filled: true
      },
      ...axes.filter(({ values }) => values.some(size => size > 0))
    ];
  }, [trans, shapes]);
  const describe = (point: number): string => {
    const node = shapes.nodes[point];
    return trans.__(
      '%1 · %2 · %3 elements',
      nodeLabel(model, node),
      model.shapeText(mainOutput(model, node)),
      formatExact(shapes.elements[point])
    );
  };
  return (
    <Chart
      title={trans.__('Shape evolution')}
      note={
        index >= 0 && index < shapes.nodes.length
          ? describe(index)
          : trans.__(
              'Dimensions of each node’s first output on a log scale. Integer outputs of shape computations and unknown shapes are not shown.'
            )
      }
    >
      {shapes.nodes.length > 0 ? (
        <Plot
          label={trans.__(
            'Elements and axes of the outputs over the execution'
          )}
          series={series}
          nodes={shapes.nodes}
          log
          format={value => formatCount(value)}
          describe={describe}
          onAt={setIndex}
        />
      ) : (
        <p className="oad-Quiet">{trans.__('No shape is known.')}</p>
      )}
    </Chart>
  );
}
