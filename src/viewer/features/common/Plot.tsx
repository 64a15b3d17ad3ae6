import * as React from 'react';
import { useSession, useView } from '../../session/sessionContext';
import { highlightEntities } from '../../session/externalHighlight';
import { useSize } from '../../ui/useSize';
import { decades, position, stepPath, ticks } from './plotScale';
import { useTrans } from '../../i18n/translateContext';

/** Values over the execution, one per point. */
export interface IPlotSeries {
  readonly label: string;
  /** NaN if unknown. */
  readonly values: ArrayLike<number>;
  /** Index of the theme's chart colour, 1 to 4. */
  readonly color: number;
  readonly filled?: boolean;
  readonly dashed?: boolean;
}

interface IPlotProps {
  /** Title of the chart. */
  readonly label: string;
  readonly series: readonly IPlotSeries[];
  /** Node of each point. */
  readonly nodes: ArrayLike<number>;
  readonly format: (value: number) => string;
  /** Description of a point. */
  readonly describe: (index: number) => string;
  readonly log?: boolean;
  /** Top of the scale; defaults to the largest value. */
  readonly max?: number;
  /** A labelled point. */
  readonly mark?: { readonly at: number; readonly label: string };
  /** Called when the point under the pointer or the keyboard has changed; -1 for none. */
  readonly onAt?: (index: number) => void;
}

const LEFT = 62;
const RIGHT = 10;
const TOP = 8;
const BOTTOM = 8;

/**
 * A chart over the execution. The pointer or the arrow keys move along it; the graph highlights the node.
 */
export function Plot(props: IPlotProps): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { series, nodes } = props;
  const count = nodes.length;
  const box = React.useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const pointed = useView(state => state.externalHighlight);
  const selection = useView(state => state.selection);
  const indexByNode = React.useMemo(() => placesOf(nodes), [nodes]);
  const focused = React.useRef(false);
  const pointedIndex =
    pointed.length === 1 ? (indexByNode.get(pointed[0]) ?? -1) : -1;
  const selectedIndex =
    selection.kind === 'node' ? (indexByNode.get(selection.id) ?? -1) : -1;
  const { onAt } = props;
  React.useEffect(
    () => onAt?.(pointedIndex >= 0 ? pointedIndex : selectedIndex),
    [onAt, pointedIndex, selectedIndex]
  );
  const plotArea = {
    width: Math.max(1, width - LEFT - RIGHT),
    height: Math.max(1, height - TOP - BOTTOM)
  };
  const goTo = (point: number): void =>
    highlightEntities(session, [
      nodes[Math.max(0, Math.min(count - 1, point))]
    ]);
  const pick = (point: number): void => {
    if (point >= 0 && point < count) {
      session.select({ kind: 'node', id: nodes[point] }, 'reveal');
    }
  };
  const indexUnder = (event: React.PointerEvent | React.MouseEvent): number => {
    const left = box.current?.getBoundingClientRect().left ?? 0;
    const x = event.clientX - left - LEFT;
    return x < -LEFT / 2 || x > plotArea.width + RIGHT
      ? -1
      : Math.max(
          0,
          Math.min(count - 1, Math.floor((x / plotArea.width) * count))
        );
  };
  const leave = (): void => {
    if (!focused.current) {
      highlightEntities(session, []);
    }
  };
  return (
    <div className="oad-PlotBox">
      {series.length > 1 && (
        <ul className="oad-Plot-legend" aria-hidden="true">
          {series.map(line => (
            <li key={line.label}>
              <span
                data-color={line.color}
                className={line.dashed ? 'oad-mod-dashed' : undefined}
              />
              {line.label}
            </li>
          ))}
        </ul>
      )}
      <div
        ref={box}
        className="oad-Plot"
        role="slider"
        tabIndex={0}
        aria-label={props.label}
        aria-roledescription={trans.__('chart')}
        aria-orientation="horizontal"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, count - 1)}
        aria-valuenow={Math.max(0, pointedIndex)}
        aria-valuetext={
          pointedIndex < 0
            ? trans.__(
                '%1 points; use the arrow keys to move between them',
                count
              )
            : props.describe(pointedIndex)
        }
        onPointerMove={event => {
          const point = indexUnder(event);
          if (point >= 0) {
            goTo(point);
          }
        }}
        onPointerLeave={leave}
        onFocus={() => {
          focused.current = true;
        }}
        onBlur={() => {
          focused.current = false;
          highlightEntities(session, []);
        }}
        onClick={event => pick(indexUnder(event))}
        onKeyDown={event => {
          const next = stepIndex(
            event.key,
            pointedIndex < 0 ? selectedIndex : pointedIndex,
            count
          );
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
          <Picture
            {...props}
            {...plotArea}
            index={pointedIndex}
            selectedIndex={selectedIndex}
            count={count}
          />
        )}
      </div>
    </div>
  );
}

/** The point that a key moves to; null if the key does not move. */
export function stepIndex(
  key: string,
  index: number,
  count: number
): number | null {
  const page = Math.max(1, Math.round(count / 20));
  switch (key) {
    case 'ArrowRight':
    case 'ArrowUp':
      return Math.min(count - 1, index + 1);
    case 'ArrowLeft':
    case 'ArrowDown':
      return Math.max(0, index - 1);
    case 'PageUp':
      return Math.min(count - 1, index + page);
    case 'PageDown':
      return Math.max(0, index - page);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}

function placesOf(nodes: ArrayLike<number>): ReadonlyMap<number, number> {
  const indexByNode = new Map<number, number>();
  for (let index = 0; index < nodes.length; index++) {
    indexByNode.set(nodes[index], index);
  }
  return indexByNode;
}

function largest(series: readonly IPlotSeries[]): number {
  let maximum = 0;
  for (const { values } of series) {
    for (let index = 0; index < values.length; index++) {
      maximum = values[index] > maximum ? values[index] : maximum;
    }
  }
  return maximum;
}

function Picture(
  props: IPlotProps & {
    width: number;
    height: number;
    index: number;
    selectedIndex: number;
    count: number;
  }
): JSX.Element {
  const { width, height, series, count, log, mark } = props;
  const scale = React.useMemo(() => {
    const maximum = props.max ?? largest(series);
    const lines = Math.max(2, Math.floor(height / 34));
    const marks = log ? decades(maximum, lines) : ticks(maximum, lines);
    const top = props.max ?? marks[marks.length - 1];
    return { marks: marks.filter(value => value <= top), top };
  }, [series, props.max, log, height]);
  const y = React.useCallback(
    (value: number): number =>
      height * (1 - position(value, scale.top, log ?? false)),
    [height, scale, log]
  );
  const lines = React.useMemo(
    () =>
      series.map(line => {
        const path = stepPath(line.values, width, y);
        return (
          <React.Fragment key={line.label}>
            {line.filled && path && (
              <path
                className="oad-Plot-area"
                data-color={line.color}
                d={areaOf(path, height)}
              />
            )}
            <path
              className={`oad-Plot-line${line.dashed ? ' oad-mod-dashed' : ''}`}
              data-color={line.color}
              d={path}
            />
          </React.Fragment>
        );
      }),
    [series, width, height, y]
  );
  const x = (index: number): number => ((index + 0.5) / count) * width;
  const upright = (index: number, name: string): JSX.Element | null =>
    index < 0 ? null : (
      <line className={name} x1={x(index)} x2={x(index)} y1={0} y2={height} />
    );
  const atRight = mark !== undefined && x(mark.at) > width * 0.7;
  return (
    <svg
      width={width + LEFT + RIGHT}
      height={height + TOP + BOTTOM}
      aria-hidden="true"
    >
      <g transform={`translate(${LEFT} ${TOP})`}>
        {scale.marks.map(value => (
          <g
            key={value}
            transform={`translate(0 ${Math.round(y(value)) + 0.5})`}
          >
            <line className="oad-Plot-grid" x2={width} />
            <text className="oad-Plot-tick" x={-6} dy="0.32em">
              {props.format(value)}
            </text>
          </g>
        ))}
        {upright(props.selectedIndex, 'oad-Plot-chosen')}
        {lines}
        {upright(props.index, 'oad-Plot-cursor')}
        {props.index >= 0 &&
          series
            .filter(({ values }) => !Number.isNaN(values[props.index]))
            .map(({ label, values, color }) => (
              <circle
                key={label}
                className="oad-Plot-dot"
                data-color={color}
                r={3.5}
                cx={x(props.index)}
                cy={y(values[props.index])}
              />
            ))}
        {mark && mark.at >= 0 && (
          <g
            transform={`translate(${x(mark.at)} ${y(series[0].values[mark.at])})`}
          >
            <circle className="oad-Plot-mark" r={4} />
            <text
              className="oad-Plot-note"
              textAnchor={atRight ? 'end' : 'start'}
              x={atRight ? -8 : 8}
              dy={4}
            >
              {mark.label}
            </text>
          </g>
        )}
      </g>
    </svg>
  );
}

/** The area under a line: each unbroken piece down to the axis. */
function areaOf(path: string, height: number): string {
  return path
    .split('M')
    .filter(segment => segment)
    .map(segment => {
      const points = segment.split('L');
      const first = points[0].split(' ')[0];
      const last = points[points.length - 1].split(' ')[0];
      return `M${first} ${height}L${segment}L${last} ${height}Z`;
    })
    .join('');
}
