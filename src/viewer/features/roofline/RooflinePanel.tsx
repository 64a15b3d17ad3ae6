import * as React from 'react';
import { hardwareOf } from '../../../core/latency/latencyEstimate';
import { rooflineOf, type IRoofline } from '../../../core/latency/roofline';
import {
  formatBytes,
  formatCount,
  formatShare,
  formatSeconds
} from '../../../core/base/numberFormat';
import { nodeLabel } from '../common/Chart';
import { stepIndex } from '../common/Plot';
import { useDocument, useSession, useView } from '../../session/sessionContext';
import {
  noTimeReason,
  peakText,
  precisionText
} from '../../summary/deviceText';
import { kernelOf } from '../../summary/kernelText';
import { boundLabel } from '../devices/deviceRows';
import { assumption } from '../../summary/latencyTile';
import { highlightEntities } from '../../session/externalHighlight';
import { escapeInvisible } from '../../ui/safeText';
import { useSize } from '../../ui/useSize';
import { RooflineChart, CHART_PADDING, type IRoofPlace } from './RooflineChart';
import { BOUNDS } from './boundMarks';
import { useTrans } from '../../i18n/translateContext';

/** The roofline plot of the model's kernels on the chosen device, linked with the graph. */
export function RooflinePanel(): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { model } = useDocument();
  const choice = useView(state => state.device);
  const roofline = React.useMemo(
    () => rooflineOf(model, choice),
    [model, choice]
  );
  if (!hardwareOf(model.payload)) {
    return (
      <p className="oad-Drawer-none">
        {trans.__('This file has no device data.')}
      </p>
    );
  }
  if (!roofline || roofline.points.length === 0) {
    return (
      <p className="oad-Drawer-none">
        {noTimeReason(model, choice, trans) ||
          (roofline
            ? trans.__('No kernel of this model has arithmetic of known size.')
            : trans.__('A roofline needs a device.'))}
        <button
          type="button"
          className="oad-Button"
          onClick={() => session.store.set({ deviceChooserOpen: true })}
        >
          {trans.__('Choose a device…')}
        </button>
      </p>
    );
  }
  return <Linked roofline={roofline} />;
}

function Linked({ roofline }: { roofline: IRoofline }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { model } = useDocument();
  const hardware = model.latency?.part ?? hardwareOf(model.payload)!;
  const { points } = roofline;
  const box = React.useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const focused = React.useRef(false);
  const pointed = useView(state => state.externalHighlight);
  const selection = useView(state => state.selection);
  const byKernel = React.useMemo(
    () => new Map(points.map(({ kernel }, index) => [kernel, index])),
    [points]
  );
  const placeOf = (node: number): number =>
    byKernel.get(hardware.kernels.node[node] ?? -1) ?? -1;
  const pointedIndex = pointed.length > 0 ? placeOf(pointed[0]) : -1;
  const selectedIndex = selection.kind === 'node' ? placeOf(selection.id) : -1;
  const positions = React.useRef<readonly IRoofPlace[]>([]);
  const goTo = (point: number): void =>
    highlightEntities(
      session,
      point < 0 ? [] : (kernelOf(model, points[point].node)?.nodes ?? [])
    );
  const pick = (point: number): void => {
    if (point >= 0) {
      session.select({ kind: 'node', id: points[point].node }, 'reveal');
    }
  };
  const indexUnder = (event: React.PointerEvent | React.MouseEvent): number => {
    const frame = box.current?.getBoundingClientRect();
    return frame
      ? nearest(
          positions.current,
          event.clientX - frame.left - CHART_PADDING.left,
          event.clientY - frame.top - CHART_PADDING.top
        )
      : -1;
  };
  const total = points.reduce((sum, { seconds }) => sum + seconds, 0);
  const describe = (point: number): string => {
    const { node, intensity, rate, seconds, flops, bytes, bound } =
      points[point];
    return trans.__(
      '%1: %2 (%3 of the time shown), %4 FLOPs, %5, %6 FLOPs per byte, %7FLOP/s; bound by %8',
      nodeLabel(model, node),
      formatSeconds(seconds),
      formatShare(seconds / total),
      formatCount(flops),
      formatBytes(bytes),
      formatCount(intensity),
      formatCount(rate),
      boundLabel(bound, trans)
    );
  };
  const { devices } = hardware;
  const described = pointedIndex >= 0 ? pointedIndex : selectedIndex;
  const isAbove = points.some(
    ({ rate, intensity }) => rate > intensity * roofline.bandwidth
  );
  const left = [
    isAbove
      ? trans.__('Kernels above the slope read their data from the cache.')
      : '',
    roofline.moving > 0
      ? trans._n(
          '%1 kernel only moves data and is not shown.',
          '%1 kernels only move data and are not shown.',
          roofline.moving
        )
      : '',
    roofline.unknown > 0
      ? trans._n(
          '%1 kernel has no time.',
          '%1 kernels have no time.',
          roofline.unknown
        )
      : ''
  ];
  return (
    <div className="oad-Roofline">
      <div className="oad-Tools">
        <ul className="oad-Plot-legend oad-PlotBox" aria-hidden="true">
          {BOUNDS.map(({ bound, color, mark }) => (
            <li key={bound} data-color={color}>
              <svg width={12} height={12} viewBox="-6 -6 12 12">
                <path className="oad-Plot-dot" d={mark(0, 0, 4.5)} />
              </svg>
              {trans.__('bound by %1', boundLabel(bound, trans))}
            </li>
          ))}
        </ul>
        <span className="oad-Quiet oad-DeviceTable-about">
          {[
            escapeInvisible(devices.name[roofline.device]),
            precisionText(roofline.precision),
            peakText(roofline.peak, roofline.precision),
            `${formatBytes(roofline.bandwidth)}/s`,
            assumption(trans)
          ].join(' · ')}
        </span>
      </div>
      <div className="oad-PlotBox">
        <div
          ref={box}
          className="oad-Plot oad-mod-pick"
          role="slider"
          tabIndex={0}
          aria-label={trans.__('Roofline')}
          aria-roledescription={trans.__('chart')}
          aria-valuemin={0}
          aria-valuemax={points.length - 1}
          aria-valuenow={Math.max(0, pointedIndex)}
          aria-valuetext={
            pointedIndex < 0
              ? trans.__(
                  '%1 kernels, slowest first; use the arrow keys to move',
                  points.length
                )
              : describe(pointedIndex)
          }
          onPointerMove={event => goTo(indexUnder(event))}
          onPointerLeave={() => !focused.current && goTo(-1)}
          onFocus={() => {
            focused.current = true;
          }}
          onBlur={() => {
            focused.current = false;
            goTo(-1);
          }}
          onClick={event => pick(indexUnder(event))}
          onKeyDown={event => {
            const next = stepIndex(event.key, described, points.length);
            if (next !== null && !event.altKey && !event.ctrlKey) {
              goTo(next);
            } else if (
              (event.key === 'Enter' || event.key === ' ') &&
              pointedIndex >= 0
            ) {
              pick(pointedIndex);
            } else {
              return;
            }
            event.preventDefault();
            event.stopPropagation();
          }}
        >
          {width > 0 && (
            <RooflineChart
              {...{ roofline, index: pointedIndex, selectedIndex }}
              width={Math.max(
                1,
                width - CHART_PADDING.left - CHART_PADDING.right
              )}
              height={Math.max(
                1,
                height - CHART_PADDING.top - CHART_PADDING.bottom
              )}
              onPositions={next => {
                positions.current = next;
              }}
            />
          )}
        </div>
      </div>
      <p className="oad-Quiet oad-Roofline-note">
        {described >= 0
          ? describe(described)
          : [
              trans.__(
                'One point per kernel, from the estimate. Click a point to select its node.'
              ),
              ...left
            ]
              .filter(Boolean)
              .join(' ')}
      </p>
    </div>
  );
}

/** Distance in pixels at which a point is under the pointer. */
const POINT_REACH_PX = 24;

function nearest(
  positions: readonly IRoofPlace[],
  x: number,
  y: number
): number {
  let [best, least] = [-1, POINT_REACH_PX * POINT_REACH_PX];
  positions.forEach((point, index) => {
    const distance = (point.x - x) ** 2 + (point.y - y) ** 2;
    if (distance < least) {
      [best, least] = [index, distance];
    }
  });
  return best;
}
