import * as React from 'react';
import { formatBytes, formatExact } from '../../../core';
import { Lifetimes, indexOfPeak } from '../../../core/model/tensorLifetimes';
import type { TimelineColumns } from '../../../schema';
import { nodeLabel } from '../common/Chart';
import { Plot, type IPlotSeries } from '../common/Plot';
import { useDocument, useSession } from '../../session/sessionContext';
import { shortLabel } from '../../ui/safeText';
import { useTrans } from '../../i18n/translateContext';

/** Maximum number of tensors listed for a step. */
const MAX_LISTED = 8;

/** Live bytes during execution. */
export function MemoryPanel(): JSX.Element {
  const trans = useTrans();
  const { payload } = useDocument().model;
  const { timeline, memory } = payload;
  if (timeline === null || timeline.inplace_bytes.length === 0) {
    const free = payload.dims.filter(dim => dim.value === null);
    return (
      <p className="oad-Drawer-none">
        {timeline?.node.length === 0
          ? trans.__('This graph has no nodes to execute.')
          : trans.__(
              'Memory over time is unknown: %1.',
              shortLabel(
                memory.reason ||
                  (free.length > 0
                    ? trans.__(
                        'it depends on %1',
                        free.map(dim => dim.name).join(', ')
                      )
                    : trans.__('a tensor has no known size')),
                400
              )
            )}
      </p>
    );
  }
  return <Curve timeline={timeline} />;
}

function Curve({ timeline }: { timeline: TimelineColumns }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { model } = useDocument();
  const [pointed, setPointed] = React.useState(-1);
  const { simple_bytes: simple, inplace_bytes: inplace, node } = timeline;
  const peak = React.useMemo(() => indexOfPeak(inplace), [inplace]);
  const simplePeak = React.useMemo(() => indexOfPeak(simple), [simple]);
  const series = React.useMemo(
    (): IPlotSeries[] => [
      {
        label: trans.__('Buffers reused in place'),
        values: inplace,
        color: 1,
        filled: true
      },
      {
        label: trans.__('Without buffer reuse'),
        values: simple,
        color: 2,
        dashed: true
      }
    ],
    [trans, inplace, simple]
  );
  const step = pointed >= 0 && pointed < node.length ? pointed : peak;
  const describe = (point: number): string =>
    trans.__(
      'Step %1 of %2, %3: %4 live, %5 without buffer reuse',
      point + 1,
      node.length,
      nodeLabel(model, node[point]),
      formatBytes(inplace[point]),
      formatBytes(simple[point])
    );
  return (
    <div className="oad-Memory">
      <div className="oad-Memory-chart">
        <Plot
          label={trans.__('Live bytes during execution')}
          series={series}
          nodes={node}
          format={value => (value === 0 ? '0' : formatBytes(value))}
          describe={describe}
          mark={{
            at: peak,
            label: trans.__('Peak %1', formatBytes(inplace[peak]))
          }}
          onAt={setPointed}
        />
      </div>
      <aside
        className="oad-Memory-now"
        aria-label={trans.__('Live tensors at this step')}
      >
        <div className="oad-Memory-peaks">
          {(
            [
              [trans.__('Peak'), peak, inplace],
              [trans.__('Without reuse'), simplePeak, simple]
            ] as const
          ).map(([label, step, values]) => (
            <button
              key={label}
              type="button"
              className="oad-Jump"
              title={nodeLabel(model, node[step])}
              onClick={() =>
                session.select({ kind: 'node', id: node[step] }, 'reveal')
              }
            >
              {label} <b>{formatBytes(values[step])}</b>
            </button>
          ))}
        </div>
        <MemoryStep timeline={timeline} step={step} isPeak={step === peak} />
      </aside>
    </div>
  );
}

/** One step: its node and live tensors. */
function MemoryStep(props: {
  timeline: TimelineColumns;
  step: number;
  isPeak: boolean;
}): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { model } = useDocument();
  const { timeline, step } = props;
  const lifetimes = React.useMemo(
    () => new Lifetimes(model, timeline),
    [model, timeline]
  );
  const alive = React.useMemo(() => lifetimes.at(step), [lifetimes, step]);
  const body = timeline.body_step.indexOf(step);
  const hiddenCount = alive.length - MAX_LISTED;
  return (
    <>
      <p>
        <b>
          {trans.__(
            'Step %1 of %2',
            step + 1,
            formatExact(timeline.node.length)
          )}
        </b>
        {props.isPeak && ` · ${trans.__('peak')}`}
        <br />
        <bdi>{nodeLabel(model, timeline.node[step])}</bdi>
        <br />
        {trans.__(
          '%1 live, %2 without reuse',
          formatBytes(timeline.inplace_bytes[step]),
          formatBytes(timeline.simple_bytes[step])
        )}
        {body >= 0 &&
          ` · ${trans.__('%1 of it in a subgraph', formatBytes(timeline.body_inplace_bytes[body]))}`}
      </p>
      <ul className="oad-Memory-alive">
        {alive.slice(0, MAX_LISTED).map(({ tensor, bytes, sharing }) => (
          <li key={tensor}>
            <button
              type="button"
              className="oad-Jump"
              title={shortLabel(model.tensorName(tensor))}
              onClick={() =>
                session.select({ kind: 'tensor', id: tensor }, 'reveal')
              }
            >
              <bdi>
                {shortLabel(model.tensorName(tensor), 80) || `#${tensor}`}
              </bdi>
            </button>
            <span className="oad-Quiet">
              {model.shapeText(tensor)}
              {sharing > 1 && ` ×${sharing}`}
            </span>
            <span className="oad-Number">{formatBytes(bytes)}</span>
          </li>
        ))}
      </ul>
      {hiddenCount > 0 && (
        <p className="oad-Quiet">{trans.__('%1 smaller ones', hiddenCount)}</p>
      )}
    </>
  );
}
