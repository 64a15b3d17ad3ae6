import * as React from 'react';
import { stepIndex } from './Plot';
import { ticks } from './plotScale';
import { useSize } from '../../ui/useSize';
import { logPlace, logScale } from './logScale';
import { useTrans } from '../../i18n/translateContext';

export interface ICurve {
  readonly label: string;
  /** One per point; NaN if unknown. */
  readonly values: readonly number[];
  /** Limits of the range around the values. */
  readonly low?: readonly number[];
  readonly high?: readonly number[];
  /** Index of the theme's chart colour, 1 to 4. */
  readonly color: number;
  readonly dashed?: boolean;
  /** Points that do not fit the device, if curves differ in that. */
  readonly small?: readonly boolean[];
}

export interface ICurvesProps {
  readonly title: string;
  readonly curves: readonly ICurve[];
  /** The size of each point. */
  readonly sizes: readonly number[];
  /** Labelled points. */
  readonly marks: readonly { readonly at: number; readonly label: string }[];
  /** A limit that values should stay below. */
  readonly limit?: { readonly value: number; readonly label: string };
  /** True for a logarithmic scale of the values. */
  readonly log: boolean;
  readonly format: (value: number) => string;
  readonly describe: (index: number) => string;
  /** Points that do not fit the device. */
  readonly small: readonly boolean[];
  /** Index of the current size; -1 if it is not one of the points. */
  readonly activeIndex: number;
  readonly index: number;
  onAt(index: number): void;
  /** Absent if points cannot be chosen. */
  onPick?(index: number): void;
}

const LEFT = 62;
const RIGHT = 14;
const TOP = 12;
const BOTTOM = 20;

/**
 * Curves over the sizes of a dimension. The pointer or the arrow keys move along them, a click or Enter
 * chooses a size.
 */
export function Curves(props: ICurvesProps): JSX.Element {
  const trans = useTrans();
  const { sizes, index, activeIndex } = props;
  const box = React.useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const focused = React.useRef(false);
  const plotArea = {
    width: Math.max(1, width - LEFT - RIGHT),
    height: Math.max(1, height - TOP - BOTTOM)
  };
  const positions = placesOf(sizes);
  const indexUnder = (event: React.PointerEvent | React.MouseEvent): number => {
    const left = box.current?.getBoundingClientRect().left ?? 0;
    const x = (event.clientX - left - LEFT) / plotArea.width;
    let best = -1;
    positions.forEach((position, point) => {
      if (best < 0 || Math.abs(position - x) < Math.abs(positions[best] - x)) {
        best = point;
      }
    });
    return best;
  };
  const start = index < 0 ? activeIndex : index;
  return (
    <section className="oad-Chart" aria-label={props.title}>
      <header>
        <h4>{props.title}</h4>
      </header>
      <div className="oad-PlotBox">
        <div
          ref={box}
          className={`oad-Plot${props.onPick ? ' oad-mod-pick' : ''}`}
          role="slider"
          tabIndex={0}
          aria-label={props.title}
          aria-roledescription={trans.__('chart')}
          aria-orientation="horizontal"
          aria-valuemin={0}
          aria-valuemax={Math.max(0, sizes.length - 1)}
          aria-valuenow={Math.max(0, index)}
          aria-valuetext={
            index < 0
              ? props.onPick
                ? trans.__(
                    '%1 points; use the arrow keys to move between them, Enter takes one',
                    sizes.length
                  )
                : trans.__(
                    '%1 points; use the arrow keys to move between them',
                    sizes.length
                  )
              : props.describe(index)
          }
          onPointerMove={event => props.onAt(indexUnder(event))}
          onPointerLeave={() => !focused.current && props.onAt(-1)}
          onFocus={() => {
            focused.current = true;
          }}
          onBlur={() => {
            focused.current = false;
            props.onAt(-1);
          }}
          onClick={event => props.onPick?.(indexUnder(event))}
          onKeyDown={event => {
            const next = stepIndex(event.key, start, sizes.length);
            if (next !== null && !event.altKey && !event.ctrlKey) {
              props.onAt(next);
            } else if (
              (event.key === 'Enter' || event.key === ' ') &&
              index >= 0 &&
              props.onPick
            ) {
              props.onPick(index);
            } else {
              return;
            }
            event.preventDefault();
            event.stopPropagation();
          }}
        >
          {width > 0 && (
            <Picture {...props} {...plotArea} positions={positions} />
          )}
        </div>
      </div>
    </section>
  );
}

/** Positions of the sizes between 0 and 1, on a logarithmic scale. */
function placesOf(sizes: readonly number[]): number[] {
  const [low, high] = [sizes[0], sizes[sizes.length - 1]];
  return sizes.map(size =>
    sizes.length < 2 ? 0.5 : logPlace(size, low, high)
  );
}

function Picture(
  props: ICurvesProps & {
    width: number;
    height: number;
    positions: readonly number[];
  }
): JSX.Element {
  const {
    curves,
    width,
    height,
    positions,
    limit,
    log,
    small,
    index,
    activeIndex
  } = props;
  const values = curves.flatMap(({ values: curveValues, low, high }) => [
    ...curveValues,
    ...(low ?? []),
    ...(high ?? [])
  ]);
  const lines = Math.max(2, Math.floor(height / 30));
  const scale = log ? logScale(values, lines) : flatScale(values, lines);
  const x = (point: number): number => positions[point] * width;
  const y = (value: number): number =>
    height *
    (1 - (log ? logPlace(value, scale.low, scale.high) : value / scale.high));
  const inside = limit && limit.value <= scale.high && limit.value >= scale.low;
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
        <Sizes {...props} />
        {activeIndex >= 0 && (
          <line
            className="oad-Plot-chosen"
            x1={x(activeIndex)}
            x2={x(activeIndex)}
            y1={0}
            y2={height}
          />
        )}
        {index >= 0 && index !== activeIndex && (
          <line
            className="oad-Plot-cursor"
            x1={x(index)}
            x2={x(index)}
            y1={0}
            y2={height}
          />
        )}
        {inside && (
          <g transform={`translate(0 ${Math.round(y(limit.value)) + 0.5})`}>
            <line className="oad-Sweep-limit" x2={width} />
            <text className="oad-Plot-note" x={4} dy={-4}>
              {limit.label}
            </text>
          </g>
        )}
        {curves.map(curve => (
          <Line key={curve.label} {...{ curve, x, y, small, index }} />
        ))}
        {props.marks
          .filter(mark => mark.at >= 0)
          .map(mark => {
            const atRight = positions[mark.at] > 0.7;
            const value = curves[0].values[mark.at];
            return Number.isNaN(value) ? null : (
              <g
                key={mark.label}
                transform={`translate(${x(mark.at)} ${y(value)})`}
              >
                <circle className="oad-Sweep-knee" r={7} />
                <text
                  className="oad-Plot-note"
                  textAnchor={atRight ? 'end' : 'start'}
                  x={atRight ? -10 : 10}
                  dy={14}
                >
                  {mark.label}
                </text>
              </g>
            );
          })}
      </g>
    </svg>
  );
}

/** A linear scale from 0. */
function flatScale(
  values: readonly number[],
  lines: number
): ReturnType<typeof logScale> {
  const largest = Math.max(0, ...values.filter(Number.isFinite));
  const marks = ticks(largest, lines);
  return { low: 0, high: marks[marks.length - 1] || 1, marks };
}

/** Labels of the sizes below the curves; those that would touch their neighbour are omitted. */
function Sizes(props: {
  sizes: readonly number[];
  positions: readonly number[];
  width: number;
  height: number;
}): JSX.Element {
  const { sizes, positions, width, height } = props;
  let end = -Infinity;
  return (
    <>
      {sizes.map((size, point) => {
        const half = 3.6 * String(size).length;
        const middle = positions[point] * width;
        if (middle - half < end + 6) {
          return null;
        }
        end = middle + half;
        return (
          <text
            key={size}
            className="oad-Plot-tick oad-mod-middle"
            x={Math.min(middle, width + RIGHT - half)}
            y={height + 15}
          >
            {size}
          </text>
        );
      })}
    </>
  );
}

function Line(props: {
  curve: ICurve;
  x(point: number): number;
  y(value: number): number;
  small: readonly boolean[];
  index: number;
}): JSX.Element {
  const { curve, x, y, small, index } = props;
  const { values, low, high, color } = curve;
  const finite = values
    .map((_, point) => point)
    .filter(point => !Number.isNaN(y(values[point])));
  const text = (point: number, value: number): string =>
    `${x(point).toFixed(1)} ${y(value).toFixed(1)}`;
  const banded = finite.filter(
    point => low && high && low[point] > 0 && high[point] > 0
  );
  const segments = piecesOf(finite);
  return (
    <g data-color={color}>
      {piecesOf(banded).map(segment => (
        <path
          key={segment[0]}
          className="oad-Plot-area"
          d={`M${[
            ...segment.map(point => text(point, high![point])),
            ...[...segment].reverse().map(point => text(point, low![point]))
          ].join('L')}Z`}
        />
      ))}
      <path
        className={`oad-Plot-line${curve.dashed ? ' oad-mod-dashed' : ''}`}
        d={segments
          .map(segment => `M${segment.map(p => text(p, values[p])).join('L')}`)
          .join('')}
      />
      {finite.map(point =>
        (curve.small ?? small)[point] ? (
          <path
            key={point}
            className="oad-Sweep-cross"
            d="M-4-4 4 4M-4 4 4-4"
            transform={`translate(${x(point)} ${y(values[point])})`}
          />
        ) : (
          <circle
            key={point}
            className="oad-Plot-dot"
            r={point === index ? 5 : 3.5}
            cx={x(point)}
            cy={y(values[point])}
          />
        )
      )}
    </g>
  );
}

/** Runs of consecutive points: unknown values leave gaps. */
function piecesOf(points: readonly number[]): number[][] {
  const segments: number[][] = [];
  for (const point of points) {
    const last = segments[segments.length - 1];
    if (last && last[last.length - 1] === point - 1) {
      last.push(point);
    } else {
      segments.push([point]);
    }
  }
  return segments;
}
