import * as React from 'react';
import type { IRoofline } from '../../../core/latency/roofline';
import { formatCount } from '../../../core/base/numberFormat';
import { logPlace, logScale } from '../common/logScale';
import { BOUNDS } from './boundMarks';
import { useTrans } from '../../i18n/translateContext';

export const CHART_PADDING = { left: 92, right: 18, top: 12, bottom: 34 };

/** Position of a point, in pixels. */
export interface IRoofPlace {
  readonly x: number;
  readonly y: number;
}

interface IRoofProps {
  readonly roofline: IRoofline;
  readonly width: number;
  readonly height: number;
  /** Hovered and selected points; -1 for none. */
  readonly index: number;
  readonly selectedIndex: number;
  readonly onPositions: (positions: readonly IRoofPlace[]) => void;
}

/** FLOP/s over FLOPs per byte, both on logarithmic scales, below the roof of the device. */
export function RooflineChart(props: IRoofProps): JSX.Element {
  const trans = useTrans();
  const {
    roofline: found,
    width,
    height,
    index: at,
    selectedIndex,
    onPositions: onPlaces
  } = props;
  const { points, peak, bandwidth } = found;
  const ridge = peak / bandwidth;
  const chart = React.useMemo(() => {
    const across = logScale(
      [...points.map(({ intensity }) => intensity), ridge],
      Math.max(2, Math.floor(width / 70))
    );
    const up = logScale(
      [...points.map(({ rate }) => rate), peak],
      Math.max(2, Math.floor(height / 30))
    );
    const x = (value: number): number =>
      width * logPlace(value, across.low, across.high);
    const y = (value: number): number =>
      height * (1 - logPlace(value, up.low, up.high));
    const positions = points.map(point => ({
      x: x(point.intensity),
      y: y(point.rate)
    }));
    const size = points.length > 400 ? 2.5 : 4;
    // One path per shape, so that thousands of points stay cheap.
    const paths = BOUNDS.map(({ bound, color, mark }) => ({
      color,
      d: positions
        .filter((_, point) => points[point].bound === bound)
        .map(point => mark(point.x, point.y, size))
        .join('')
    }));
    // The slope enters the chart from the left, or from below.
    const from = Math.max(across.low, up.low / bandwidth);
    const roof = `M${x(from)} ${y(from * bandwidth)}L${x(ridge)} ${y(peak)}L${width} ${y(peak)}`;
    return { across, up, x, y, places: positions, paths, roof };
  }, [points, peak, bandwidth, ridge, width, height]);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the callback may be new each time
  React.useEffect(() => onPlaces(chart.places), [chart.places]);
  const { across, up, x, y, places, paths, roof } = chart;
  const ring = (point: number, name: string): JSX.Element | null =>
    point < 0 ? null : (
      <circle
        className={name}
        r={8}
        cx={places[point].x}
        cy={places[point].y}
      />
    );
  return (
    <svg
      width={width + CHART_PADDING.left + CHART_PADDING.right}
      height={height + CHART_PADDING.top + CHART_PADDING.bottom}
      aria-hidden="true"
    >
      <g transform={`translate(${CHART_PADDING.left} ${CHART_PADDING.top})`}>
        {up.marks.map(value => (
          <g
            key={value}
            transform={`translate(0 ${Math.round(y(value)) + 0.5})`}
          >
            <line className="oad-Plot-grid" x2={width} />
            <text className="oad-Plot-tick" x={-6} dy="0.32em">
              {formatCount(value)}FLOP/s
            </text>
          </g>
        ))}
        {across.marks.map(value => (
          <g
            key={value}
            transform={`translate(${Math.round(x(value)) + 0.5} 0)`}
          >
            <line className="oad-Plot-grid" y2={height} />
            <text className="oad-Plot-tick oad-mod-middle" y={height + 14}>
              {formatCount(value)}
            </text>
          </g>
        ))}
        <text
          className="oad-Plot-tick oad-mod-middle"
          x={width / 2}
          y={height + 29}
        >
          {trans.__('FLOPs per byte')}
        </text>
        <path className="oad-Roofline-roof" d={roof} />
        <line
          className="oad-Roofline-ridge"
          x1={x(ridge)}
          x2={x(ridge)}
          y1={y(peak)}
          y2={height}
        />
        {paths.map(({ color, d }) => (
          <path
            key={color}
            className="oad-Plot-dot oad-Roofline-points"
            data-color={color}
            d={d}
          />
        ))}
        {ring(selectedIndex, 'oad-Roofline-chosen')}
        {ring(at, 'oad-Roofline-at')}
      </g>
    </svg>
  );
}
