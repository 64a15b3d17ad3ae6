import * as React from 'react';
import { formatExact, formatShare } from '../../../core';
import type { WeightHistogram } from '../../../schema';
import { stepIndex } from '../common/Plot';
import type { ITranslate } from '../../i18n/translate';
import {
  barHeight,
  lastBefore,
  formatValue,
  spansDecades
} from './formatValue';
import { useTrans } from '../../i18n/translateContext';

/** Height of the chart in its own units; the bars are stretched to the available height. */
const HEIGHT = 100;

/** Histogram of the values. The pointer or the arrow keys move from bar to bar. */
export function Histogram(props: {
  histogram: WeightHistogram;
  bool: boolean;
}): JSX.Element {
  const trans = useTrans();
  const { counts, edges } = props.histogram;
  const [pointed, setPointed] = React.useState(-1);
  const [log, setLog] = React.useState(false);
  const spans = React.useMemo(() => spansDecades(counts), [counts]);
  const largest = Math.max(...counts);
  const total = React.useMemo(
    () => counts.reduce((sum, count) => sum + count, 0),
    [counts]
  );
  const describe = (bin: number): string =>
    trans.__(
      '%1: %2 values (%3)',
      rangeText(props.histogram, bin, props.bool, trans),
      formatExact(counts[bin]),
      formatShare(counts[bin] / total)
    );
  const binUnder = (event: React.PointerEvent): number => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const bin = Math.floor(((event.clientX - left) / width) * counts.length);
    return Math.max(0, Math.min(counts.length - 1, bin));
  };
  return (
    <div className="oad-WeightPlot">
      <div className="oad-WeightPlot-head">
        <span className="oad-Quiet">
          {log ? trans.__('values, log scale') : trans.__('values')}
          {' · '}
          {trans.__('at most %1', formatExact(largest))}
        </span>
        {spans && (
          <button
            type="button"
            className="oad-Toggle"
            aria-pressed={log}
            title={trans.__('Show the counts on a logarithmic scale')}
            onClick={() => setLog(!log)}
          >
            {trans.__('Log')}
          </button>
        )}
      </div>
      <div
        className="oad-WeightPlot-bars"
        role="slider"
        tabIndex={0}
        aria-label={trans.__('Histogram of the values')}
        aria-roledescription={trans.__('chart')}
        aria-orientation="horizontal"
        aria-valuemin={0}
        aria-valuemax={counts.length - 1}
        aria-valuenow={Math.max(0, pointed)}
        aria-valuetext={
          pointed < 0
            ? trans.__('%1 bars; use the arrow keys to move', counts.length)
            : describe(pointed)
        }
        onPointerMove={event => setPointed(binUnder(event))}
        onPointerLeave={() => setPointed(-1)}
        onBlur={() => setPointed(-1)}
        onKeyDown={event => {
          const next = stepIndex(event.key, pointed, counts.length);
          if (next !== null && !event.altKey && !event.ctrlKey) {
            setPointed(next);
            event.preventDefault();
            event.stopPropagation();
          }
        }}
      >
        <svg
          viewBox={`0 0 ${counts.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <Bars counts={counts} largest={largest} log={log} />
          {pointed >= 0 && (
            <rect
              className="oad-WeightPlot-at"
              x={pointed}
              width={1}
              height={HEIGHT}
            />
          )}
        </svg>
      </div>
      <div className="oad-WeightPlot-axis" aria-hidden="true">
        <span>{edgeText(edges[0], props.bool, trans)}</span>
        <Zero edges={edges} />
        <span>
          {props.histogram.whole
            ? edgeText(lastBefore(edges[edges.length - 1]), props.bool, trans)
            : formatValue(edges[edges.length - 1])}
        </span>
      </div>
      <p className="oad-WeightPlot-note oad-Quiet" aria-hidden="true">
        {pointed >= 0
          ? describe(pointed)
          : trans.__('Point at a bar to read it.')}
      </p>
    </div>
  );
}

function AllBars(props: {
  counts: readonly number[];
  largest: number;
  log: boolean;
}): JSX.Element {
  return (
    <>
      {props.counts.map((count, bin) => {
        const height = barHeight(count, props.largest, props.log) * HEIGHT;
        // The rarest value must stay visible.
        const drawnHeight = count > 0 ? Math.max(1, height) : 0;
        return (
          <rect
            key={bin}
            className="oad-WeightPlot-bar"
            x={bin + 0.06}
            width={0.88}
            y={HEIGHT - drawnHeight}
            height={drawnHeight}
          />
        );
      })}
    </>
  );
}

const Bars = React.memo(AllBars);

/** Marks 0, if it is well inside. */
function Zero(props: {
  edges: readonly (number | string)[];
}): JSX.Element | null {
  const low = Number(props.edges[0]);
  const high = Number(props.edges[props.edges.length - 1]);
  const share = -low / (high - low);
  return share > 0.2 && share < 0.8 ? (
    <span
      className="oad-WeightPlot-zero"
      style={{ left: `${(share * 100).toFixed(2)}%` }}
    >
      0
    </span>
  ) : null;
}

function edgeText(
  edge: number | string,
  bool: boolean,
  trans: ITranslate
): string {
  if (!bool) {
    return formatValue(edge);
  }
  return edge === 0 ? trans.__('false') : trans.__('true');
}

function rangeText(
  { edges, whole }: WeightHistogram,
  bin: number,
  bool: boolean,
  trans: ITranslate
): string {
  const low = edgeText(edges[bin], bool, trans);
  const last = whole ? lastBefore(edges[bin + 1]) : edges[bin + 1];
  const high = edgeText(last, bool, trans);
  return low === high ? low : trans.__('%1 to %2', low, high);
}
