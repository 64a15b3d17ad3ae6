import type { RampId } from '../../../schema/metrics';
import { rampOf } from '../../overlays/heatmapRamp';

const STOPS = 8;

/** The heatmap's ramp as a CSS background, from its lowest to its highest colour. */
export function gradient(dark: boolean, ramp?: RampId): string {
  const { color } = rampOf(dark, ramp);
  const stops = Array.from({ length: STOPS + 1 }, (_, i) => color(i / STOPS));
  return `linear-gradient(to right, ${stops.join(', ')})`;
}

/** An end of the ramp; that of the brush if no value is known. */
export function rampEnd(value: number, other: number | undefined): number {
  return Number.isNaN(value) && other !== undefined ? other : value;
}
