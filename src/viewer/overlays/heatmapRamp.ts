/** The heatmap ramp of the graph: high values stand out from the background, light or dark. */

import { rampColor, readableTextColor } from '../../core/base/colorScale';
import type { RampId } from '../../schema/metrics';
import type { IOverlay } from '../graph/surfaceApi';

/** Share of white at the start of the light ramp; the bright end of the map is too strong on white. */
const MAX_WHITE_SHARE = 0.62;

function mixWithWhite(color: string, share: number): string {
  const parts = [1, 3, 5].map(start =>
    parseInt(color.slice(start, start + 2), 16)
  );
  return (
    '#' +
    parts
      .map(channel => Math.round(channel + (255 - channel) * share))
      .map(channel => channel.toString(16).padStart(2, '0'))
      .join('')
  );
}

/**
 * On a light background the ramp runs from pale to dark, on a dark one from dark to bright: higher values
 * have more contrast, and luminance is monotonic.
 */
function colorOn(dark: boolean, position: number, ramp?: RampId): string {
  return dark
    ? rampColor(position, ramp)
    : mixWithWhite(
        rampColor(1 - position, ramp),
        MAX_WHITE_SHARE * Math.max(0, 1 - 2 * position)
      );
}

export function rampOf(
  dark: boolean,
  ramp?: RampId
): Pick<IOverlay, 'color' | 'textColor'> {
  const color = (position: number): string => colorOn(dark, position, ramp);
  return {
    color,
    textColor: position => readableTextColor(color(position))
  };
}
