import * as React from 'react';

const STEP_PX = 16;

export interface ISplitterProps {
  readonly label: string;
  /** `1` if dragging right or down makes the panel larger. */
  readonly direction: 1 | -1;
  readonly axis: 'x' | 'y';
  readonly size: number;
  readonly min: number;
  readonly max: number;
  onResize(size: number): void;
}

/** A splitter, moved by dragging or with the arrow keys, that resizes the panel next to it. */
export function Splitter(props: ISplitterProps): JSX.Element {
  const { axis, direction, size, min, max } = props;
  const start = React.useRef<{ position: number; size: number } | null>(null);
  const positionOf = (event: React.PointerEvent): number =>
    axis === 'x' ? event.clientX : event.clientY;
  const resize = (size: number): void =>
    props.onResize(Math.round(Math.max(min, Math.min(max, size))));
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const [decreaseKey, increaseKey] =
      axis === 'x' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
    const sign =
      event.key === increaseKey ? 1 : event.key === decreaseKey ? -1 : 0;
    if (sign !== 0) {
      event.preventDefault();
      event.stopPropagation();
      resize(size + sign * direction * STEP_PX);
    }
  };
  return (
    <div
      className={`oad-Splitter oad-mod-${axis}`}
      role="separator"
      tabIndex={0}
      aria-label={props.label}
      aria-orientation={axis === 'x' ? 'vertical' : 'horizontal'}
      aria-valuenow={size}
      aria-valuemin={min}
      aria-valuemax={max}
      onKeyDown={onKeyDown}
      onPointerDown={event => {
        start.current = { position: positionOf(event), size };
        event.currentTarget.setPointerCapture(event.pointerId);
        event.preventDefault();
      }}
      onPointerMove={event => {
        if (start.current) {
          resize(
            start.current.size +
              direction * (positionOf(event) - start.current.position)
          );
        }
      }}
      onPointerUp={() => {
        start.current = null;
      }}
      onPointerCancel={() => {
        start.current = null;
      }}
    />
  );
}
