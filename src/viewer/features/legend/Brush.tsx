import * as React from 'react';
import type { ISpan } from '../../../core';
import type { IOverlayRange } from '../../overlays/types';
import { useTrans } from '../../i18n/translateContext';
import { ownValue } from '../../../core/base/ownValue';

/** A shorter drag, as a share of the width, counts as a click, which clears the brush. */
const MIN_DRAG_SHARE = 0.02;
/** Shares that differ by less are the same border between two bars. */
const EPS = 1e-6;

const clamp = (share: number): number => Math.max(0, Math.min(1, share));

/**
 * Histogram of the visible values along the ramp; dragging, or moving its ends, limits the colours to a
 * range.
 */
export function Brush(props: {
  range: IOverlayRange;
  brush: ISpan | null;
  color(position: number): string;
  text(value: number): string;
  onChange(span: ISpan | null): void;
}): JSX.Element {
  const { range, brush, onChange } = props;
  const { fullScale, bins } = range;
  const trans = useTrans();
  const frame = React.useRef<HTMLDivElement>(null);
  const start = React.useRef<number | null>(null);
  // Between the smallest and the largest value: a linear ramp begins at zero.
  const first = clamp(fullScale.position(fullScale.min));
  const from = brush ? clamp(fullScale.position(brush.low)) : 0;
  const to = brush ? clamp(fullScale.position(brush.high)) : 1;
  const largest = Math.max(1, ...bins);
  const set = (a: number, b: number): void => {
    if (Math.abs(a - b) < MIN_DRAG_SHARE) {
      onChange(null);
      return;
    }
    // A bar is in or out as a whole.
    const bar = (share: number): number => share * bins.length;
    const low = clamp(Math.floor(bar(Math.min(a, b)) + EPS) / bins.length);
    const high = clamp(Math.ceil(bar(Math.max(a, b)) - EPS) / bins.length);
    onChange(
      low <= first && high >= 1
        ? null
        : {
            low: low <= first ? fullScale.min : fullScale.value(low),
            high: high >= 1 ? fullScale.max : fullScale.value(high)
          }
    );
  };
  const shareOf = (event: React.PointerEvent): number => {
    const box = frame.current!.getBoundingClientRect();
    return clamp((event.clientX - box.left) / Math.max(1, box.width));
  };
  /** The smallest step, in whole bars, to another value. */
  const stepFrom = (position: number, sign: number): number => {
    let bars = 1;
    const nextShare = (): number =>
      clamp(position + (sign * bars) / bins.length);
    while (
      bars < bins.length &&
      fullScale.value(nextShare()) === fullScale.value(position)
    ) {
      bars++;
    }
    return (sign * bars) / bins.length;
  };
  const end = (name: string, position: number, high: boolean): JSX.Element => (
    <span
      role="slider"
      tabIndex={0}
      className="oad-Brush-end"
      style={{ left: `${position * 100}%` }}
      aria-label={name}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(position * 100)}
      aria-valuetext={props.text(fullScale.value(position))}
      onKeyDown={event => {
        const sign = ownValue({ ArrowLeft: -1, ArrowRight: 1 }, event.key);
        if (sign !== undefined) {
          const step = stepFrom(position, sign);
          event.preventDefault();
          event.stopPropagation();
          set(high ? from : from + step, high ? to + step : to);
        }
      }}
    />
  );
  return (
    <div
      ref={frame}
      className="oad-Brush"
      title={trans.__('Drag to limit the colour range; Esc resets it')}
      onPointerDown={event => {
        if (event.button === 0) {
          event.currentTarget.setPointerCapture?.(event.pointerId);
          start.current = shareOf(event);
        }
      }}
      onPointerMove={event => {
        if (start.current !== null) {
          set(start.current, shareOf(event));
        }
      }}
      onPointerUp={event => {
        if (start.current !== null) {
          set(start.current, shareOf(event));
          start.current = null;
        }
      }}
      onPointerCancel={() => {
        start.current = null;
      }}
    >
      <div className="oad-Brush-bars" aria-hidden="true">
        {bins.map((count, bin) => {
          const middle = (bin + 0.5) / bins.length;
          return (
            <span
              key={bin}
              style={{
                // The square root keeps a single box visible next to a hundred.
                height: `${Math.sqrt(count / largest) * 100}%`,
                background: props.color(middle),
                opacity: middle >= from && middle <= to ? 1 : 0.25
              }}
            />
          );
        })}
      </div>
      {brush && (
        <div
          className="oad-Brush-span"
          style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
        />
      )}
      {end(trans.__('Lower end of the colour range'), from, false)}
      {end(trans.__('Highest value with a colour'), to, true)}
    </div>
  );
}
