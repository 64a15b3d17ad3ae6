import * as React from 'react';

/** A progress bar; indeterminate without a total. */
export function ProgressBar(props: {
  label: string;
  done: number;
  total: number;
}): JSX.Element {
  const { label, done, total } = props;
  const share = total > 0 ? Math.min(1, done / total) : null;
  return (
    <div
      className={`oad-Progress${share === null ? ' oad-mod-endless' : ''}`}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={share === null ? undefined : Math.round(share * 100)}
    >
      <div style={share === null ? undefined : { width: `${share * 100}%` }} />
    </div>
  );
}
