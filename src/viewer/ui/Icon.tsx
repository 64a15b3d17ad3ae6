import * as React from 'react';

/** Strokes on a 16 × 16 grid, in the text colour. */
const PATHS = {
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.4 10.4 14 14',
  up: 'M3.5 10 8 5.5l4.5 4.5',
  down: 'M3.5 6 8 10.5 12.5 6',
  right: 'M6 3.5 10.5 8 6 12.5',
  left: 'M10 3.5 5.5 8 10 12.5',
  close: 'M4 4l8 8M12 4l-8 8',
  fit: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  home: 'M2 8 8 2.5 14 8M4 6.5v7h8v-7M6.8 13.5V9.8h2.4v3.7',
  expand: 'M8 1.5v5M5.5 4 8 1.5 10.5 4M8 14.5v-5M5.5 12 8 14.5l2.5-2.5',
  collapse: 'M8 6.5v-5M5.5 4 8 6.5 10.5 4M8 9.5v5M5.5 12 8 9.5l2.5 2.5',
  across: 'M1.5 5.5h4v5h-4zM10.5 5.5h4v5h-4zM5.5 8h5',
  downwards: 'M5.5 1.5h5v4h-5zM5.5 10.5h5v4h-5zM8 5.5v5',
  rows: 'M1.5 2h4v4h-4zM10.5 2h4v4h-4zM5.5 4h5M1.5 10h4v4h-4zM10.5 10h4v4h-4zM5.5 12h5M12.5 6v2h-9v2',
  flow: 'M1.5 2h4v4h-4zM10.5 2h4v4h-4zM5.5 4h5M12.5 6v2h-9v2M1.5 10h4v4h-4zM9 12.5l1.8-3.5 1.8 3.5M9.6 11.4h2.4',
  outline: 'M2.5 3h4M5 8h4M5 13h4M3.5 3v10H5M3.5 8H5M11.5 8h2M11.5 13h2',
  inspector: 'M2 2.5h12v11H2zM9.5 2.5v11M11.3 5.5h1.2M11.3 8h1.2',
  drawer: 'M2 2.5h12v11H2zM2 9h12M4 11.2h3',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  all: 'M2 5 4 7l3.5-4M2 11.5l2 2 3.5-4M10 5h4M10 11.5h4',
  check: 'M3 8.5 6.5 12 13 4.5',
  help: 'M6 6a2 2 0 1 1 2.9 1.8c-.6.3-.9.7-.9 1.4v.3M8 11.6v.6M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13Z',
  error:
    'M5.4 1.5h5.2l3.9 3.9v5.2l-3.9 3.9H5.4l-3.9-3.9V5.4zM8 4.6v4M8 10.8v.6',
  warning: 'M8 2 1.5 13.5h13zM8 6.3v3.4M8 11.3v.6',
  info: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8 7.2v4M8 4.6v.6',
  reload: 'M13.3 6.2A5.6 5.6 0 1 0 13.6 9M13.5 2.5v3.8H9.7',
  jump: 'M3 8h9M8.5 4.5 12 8l-3.5 3.5',
  back: 'M13 8H4M7.5 4.5 4 8l3.5 3.5',
  save: 'M8 2v8M4.8 7 8 10.2 11.2 7M2.5 11v2.5h11V11',
  together: 'M2.5 3h4v10h-4zM9.5 3h4v10h-4zM6.5 8h3',
  device:
    'M4.5 4.5h7v7h-7zM6 4.5V2M10 4.5V2M6 14v-2.5M10 14v-2.5M4.5 6H2M4.5 10H2M14 6h-2.5M14 10h-2.5',
  dims: 'M2 4.5h12M2 11.5h12M5 2v5M11 9v5'
} as const;

export type IconName = keyof typeof PATHS;

export function Icon(props: { name: IconName; size?: number }): JSX.Element {
  const size = props.size ?? 16;
  return (
    <svg
      className="oad-Icon"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[props.name]} />
    </svg>
  );
}
