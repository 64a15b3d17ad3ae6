/** Colour and shape of points, by their bound. */

import type { IRoofPoint } from '../../../core/latency/roofline';

export interface IMark {
  readonly bound: IRoofPoint['bound'];
  /** Index of the theme's chart colour. */
  readonly color: number;
  readonly mark: (x: number, y: number, size: number) => string;
}

const toFixedText = (value: number): string => value.toFixed(1);

export const BOUNDS: readonly IMark[] = [
  {
    bound: 'compute',
    color: 1,
    mark: (x, y, r) =>
      `M${toFixedText(x - r)} ${toFixedText(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`
  },
  {
    bound: 'memory',
    color: 2,
    mark: (x, y, r) =>
      `M${toFixedText(x - r)} ${toFixedText(y - r)}h${2 * r}v${2 * r}h${-2 * r}Z`
  },
  {
    bound: 'overhead',
    color: 4,
    mark: (x, y, r) =>
      `M${toFixedText(x)} ${toFixedText(y - 1.2 * r)}l${1.2 * r} ${2.2 * r}h${-2.4 * r}Z`
  }
];
