import * as React from 'react';
import { formatCount, formatExact, formatShare } from '../../core';
import type { IGraphModel, MetricId } from '../../core/types';
import { useDocument, useTrans } from '../context';
import { formatAmount } from '../table/columns';
import { mainOutput } from '../table/texts';
import type { ITranslate } from '../translate';
import { brief } from '../ui/text';
import { Bars, type IBar } from './Bars';
import { Plot, type ISeries } from './Plot';
import {
  AXES,
  byOperator,
  cumulative,
  executionOrder,
  paramBins,
  shapeEvolution
} from './profile';

/** Bars beyond these would not be read. */
const MOST_BARS = 40;

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
      <Depth model={model} order={order} />
      <Shapes model={model} order={order} />
      <Operators model={model} order={order} />
      <Parameters model={model} order={order} />
    </div>
  );
}

interface IChartProps {
  readonly model: IGraphModel;
  readonly order: Int32Array;
}

/** A chart with its title; the line below says what is pointed at. */
function Chart(props: {
  title: string;
  note: string;
  tools?: React.ReactNode;
  children: React.ReactNode;
}): JSX.Element {
  return (
    <section className="oad-Chart" aria-label={props.title}>
      <header>
        <h4>{props.title}</h4>
        {props.tools}
      </header>
      {props.children}
      <p className="oad-Quiet oad-Chart-note">{props.note}</p>
    </section>
  );
}

export function nodeLabel(model: IGraphModel, node: number): string {
  const name = model.nodeName(node);
  return brief(
    name ? `${name} · ${model.opType(node)}` : model.opType(node),
    120
  );
}

function Depth({ model, order }: IChartProps): JSX.Element {
  const trans = useTrans();
  const [at, setAt] = React.useState(-1);
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
        { label: trans.__('MACs'), color: 1, filled: true, ...macs },
        { label: trans.__('Parameters'), color: 2, ...params },
        { label: trans.__('Latency'), color: 3, ...latency }
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
          'Share of what is known; unknown nodes count as 0: %1.',
          lacking
            .map(({ label, unknown }) => `${label} ${formatExact(unknown)}`)
            .join(', ')
        )
      : trans.__('Share of the total that is done after each node.');
  return (
    <Chart
      title={trans.__('Depth profile')}
      note={at >= 0 && series.length > 0 ? describe(at) : about}
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
          onAt={setAt}
        />
      ) : (
        <p className="oad-Quiet">{trans.__('Nothing of it is known.')}</p>
      )}
    </Chart>
  );
}

function Shapes({ model, order }: IChartProps): JSX.Element {
  const trans = useTrans();
  const [at, setAt] = React.useState(-1);
  const shapes = React.useMemo(
    () => shapeEvolution(model, order),
    [model, order]
  );
  const series = React.useMemo((): ISeries[] => {
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
        at >= 0 && at < shapes.nodes.length
          ? describe(at)
          : trans.__(
              'Sizes of each first output, in powers of ten; whole-number outputs of shape arithmetic and unknown shapes are left out.'
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
          onAt={setAt}
        />
      ) : (
        <p className="oad-Quiet">{trans.__('No shape is known.')}</p>
      )}
    </Chart>
  );
}

type OperatorMeasure = MetricId | 'count';

function measures(
  timed: boolean,
  trans: ITranslate
): readonly (readonly [OperatorMeasure, string])[] {
  return [
    ['count', trans.__('Nodes')],
    ['macs', trans.__('MACs')],
    ['flops', trans.__('FLOPs')],
    ['params', trans.__('Parameters')],
    ['weight_bytes', trans.__('Weight bytes')],
    ['activation_bytes', trans.__('Activation bytes')],
    ...(timed ? [['latency', trans.__('Latency')] as const] : [])
  ];
}

function Operators({ model, order }: IChartProps): JSX.Element {
  const trans = useTrans();
  const labels = measures(model.latency !== null, trans);
  const [wanted, setMeasure] = React.useState<OperatorMeasure>('count');
  const measure = labels.some(([id]) => id === wanted) ? wanted : 'count';
  const parts = React.useMemo(
    () => byOperator(model, order, measure),
    [model, order, measure]
  );
  const shown = parts.filter(({ value, unknown }) => value > 0 || unknown > 0);
  const bars = shown
    .slice(0, MOST_BARS)
    .map(({ label, value, unknown, nodes }): IBar => ({
      label: brief(label, 80),
      value,
      // All unknown is no 0, and a sum that lacks parts is a lower bound.
      text:
        unknown >= nodes.length
          ? '—'
          : (unknown > 0 ? '≥ ' : '') +
            (measure === 'count'
              ? formatCount(value)
              : formatAmount(measure, value)),
      title:
        unknown > 0
          ? trans.__(
              '%1 nodes, of %2 it is unknown',
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
        shown.length > MOST_BARS
          ? trans.__('The first %1 of %2 types.', MOST_BARS, shown.length)
          : trans.__('A click selects the nodes of a type.')
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
        <p className="oad-Quiet">{trans.__('No operator has any.')}</p>
      )}
    </Chart>
  );
}

function Parameters({ model, order }: IChartProps): JSX.Element {
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
        'Layers by how many parameters they have, and the share of all parameters that these hold.'
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
