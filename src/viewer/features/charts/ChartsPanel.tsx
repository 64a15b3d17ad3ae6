import * as React from 'react';
import { useDocument } from '../../session/sessionContext';
import { DepthChart } from './DepthChart';
import { OperatorsChart } from './OperatorsChart';
import { ParametersChart } from './ParametersChart';
import { executionOrder } from '../../summary/chartData';
import { ShapesChart } from './ShapesChart';
import { useTrans } from '../../i18n/translateContext';

/** Four small charts, linked with the graph and with each other. */
export function ChartsPanel(): JSX.Element {
  const { model } = useDocument();
  const order = React.useMemo(() => executionOrder(model), [model]);
  const trans = useTrans();
  if (order.length === 0) {
    return (
      <p className="oad-Drawer-none">{trans.__('This graph has no nodes')}</p>
    );
  }
  return (
    <div className="oad-Charts">
      <DepthChart model={model} order={order} />
      <ShapesChart model={model} order={order} />
      <OperatorsChart model={model} order={order} />
      <ParametersChart model={model} order={order} />
    </div>
  );
}
