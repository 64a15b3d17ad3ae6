import * as React from 'react';
import { formatSeconds } from '../../../core/base/numberFormat';
import { stepIndex } from '../common/Plot';
import { useSession, useView } from '../../session/sessionContext';
import { highlightEntities } from '../../session/externalHighlight';
import { logPlace, logScale } from '../common/logScale';
import { shortLabel, escapeInvisible } from '../../ui/safeText';
import { useSize } from '../../ui/useSize';
import { medianRatio, type IComparedTimes } from './estimatedTimes';
import { useTrans } from '../../i18n/translateContext';

const PLOT_PADDING = { left: 62, right: 14, top: 10, bottom: 34 };
/** Distance in pixels at which a point is under the pointer. */
const POINT_REACH_PX = 20;

/** A point per kernel: measured time across, estimated time up; on the diagonal if they agree. */
export function Scatter(props: {
  compared: readonly IComparedTimes[];
  device: string;
}): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { compared, device } = props;
  const box = React.useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const width = Math.max(
    1,
    size.width - PLOT_PADDING.left - PLOT_PADDING.right
  );
  const height = Math.max(
    1,
    size.height - PLOT_PADDING.top - PLOT_PADDING.bottom
  );
  const focused = React.useRef(false);
  const pointed = useView(state => state.externalHighlight);
  const selection = useView(state => state.selection);
  const byNode = React.useMemo(
    () =>
      new Map(
        compared.flatMap(({ kernel }, index) =>
          kernel.nodes.map(node => [node, index] as const)
        )
      ),
    [compared]
  );
  const pointedIndex = pointed.length > 0 ? (byNode.get(pointed[0]) ?? -1) : -1;
  const selectedIndex =
    selection.kind === 'node' ? (byNode.get(selection.id) ?? -1) : -1;
  const chart = React.useMemo(() => {
    const times = compared.flatMap(({ measured, estimated }) => [
      measured,
      estimated
    ]);
    // One scale for both, so that they agree on the diagonal.
    const scale = logScale(times, Math.max(2, Math.floor(width / 80)));
    const position = (value: number): number =>
      logPlace(value, scale.low, scale.high);
    return {
      ...scale,
      place: position,
      points: compared.map(({ measured, estimated }) => ({
        x: width * position(measured),
        y: height * (1 - position(estimated))
      }))
    };
  }, [compared, width, height]);
  const { place, points } = chart;
  const goTo = (point: number): void =>
    highlightEntities(session, point < 0 ? [] : compared[point].kernel.nodes);
  const pick = (point: number): void => {
    if (point >= 0) {
      session.select(
        { kind: 'node', id: compared[point].kernel.node },
        'reveal'
      );
    }
  };
  const indexUnder = (event: React.PointerEvent | React.MouseEvent): number => {
    const frame = box.current?.getBoundingClientRect();
    return frame
      ? nearest(
          points,
          event.clientX - frame.left - PLOT_PADDING.left,
          event.clientY - frame.top - PLOT_PADDING.top
        )
      : -1;
  };
  const describe = (point: number): string => {
    const { kernel, measured, estimated } = compared[point];
    return trans.__(
      '%1 (%2): measured %3, estimated %4',
      shortLabel(escapeInvisible(kernel.name), 60),
      shortLabel(escapeInvisible(kernel.op), 30),
      formatSeconds(measured),
      formatSeconds(estimated)
    );
  };
  const ring = (point: number, name: string): JSX.Element | null =>
    point < 0 ? null : (
      <circle
        className={name}
        r={8}
        cx={points[point].x}
        cy={points[point].y}
      />
    );
  const described = pointedIndex >= 0 ? pointedIndex : selectedIndex;
  return (
    <figure className="oad-Run-scatter">
      <div
        ref={box}
        className="oad-Plot oad-mod-pick"
        role="slider"
        tabIndex={0}
        aria-label={trans.__('Estimate against measurement')}
        aria-roledescription={trans.__('chart')}
        aria-valuemin={0}
        aria-valuemax={compared.length - 1}
        aria-valuenow={Math.max(0, pointedIndex)}
        aria-valuetext={
          pointedIndex < 0
            ? trans.__(
                '%1 kernels, slowest first; use the arrow keys to move',
                compared.length
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
          const next = stepIndex(event.key, described, compared.length);
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
        {size.width > 0 && (
          <svg width={size.width} height={size.height} aria-hidden="true">
            <g
              transform={`translate(${PLOT_PADDING.left} ${PLOT_PADDING.top})`}
            >
              {chart.marks.map(value => (
                <React.Fragment key={value}>
                  <g transform={`translate(0 ${height * (1 - place(value))})`}>
                    <line className="oad-Plot-grid" x2={width} />
                    <text className="oad-Plot-tick" x={-6} dy="0.32em">
                      {formatSeconds(value)}
                    </text>
                  </g>
                  <g transform={`translate(${width * place(value)} 0)`}>
                    <line className="oad-Plot-grid" y2={height} />
                    <text
                      className="oad-Plot-tick oad-mod-middle"
                      y={height + 14}
                    >
                      {formatSeconds(value)}
                    </text>
                  </g>
                </React.Fragment>
              ))}
              <text
                className="oad-Plot-tick oad-mod-middle"
                x={width / 2}
                y={height + 29}
              >
                {trans.__('measured')}
              </text>
              <line
                className="oad-Roofline-ridge"
                y1={height}
                x2={width}
                y2={0}
              />
              {points.map(({ x, y }, point) => (
                <circle
                  key={compared[point].kernel.node}
                  className="oad-Plot-dot oad-Roofline-points"
                  data-color={1}
                  r={4}
                  cx={x}
                  cy={y}
                />
              ))}
              {ring(selectedIndex, 'oad-Roofline-chosen')}
              {ring(pointedIndex, 'oad-Roofline-at')}
            </g>
          </svg>
        )}
      </div>
      <figcaption className="oad-Quiet">
        {described >= 0
          ? describe(described)
          : trans.__(
              'Estimated (up) for %1 against measured (across). The median kernel is estimated at %2 of its measured time.',
              device,
              medianRatio(compared).toPrecision(2)
            )}
      </figcaption>
    </figure>
  );
}

function nearest(
  positions: readonly { x: number; y: number }[],
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
