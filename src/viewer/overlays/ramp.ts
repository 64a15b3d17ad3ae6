/** The heat ramp as the graph uses it: what is heavy stands out from the ground, light or dark. */

import { rampColor, textOn } from '../../core';
import type { IOverlay } from '../graph/api';

/** Share of white at the start of the light ramp; the bright end of the map is loud on white. */
const PALE = 0.62;

function pale(color: string, share: number): string {
  const parts = [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16));
  return (
    '#' +
    parts
      .map(part => Math.round(part + (255 - part) * share))
      .map(part => part.toString(16).padStart(2, '0'))
      .join('')
  );
}

/**
 * On a light ground the map runs from pale to dark, on a dark one from dark to bright: either way
 * more of a thing has more contrast, and luminance rises or falls all along.
 */
function colorOn(dark: boolean, position: number): string {
  return dark
    ? rampColor(position)
    : pale(rampColor(1 - position), PALE * Math.max(0, 1 - 2 * position));
}

export function rampOf(dark: boolean): Pick<IOverlay, 'color' | 'textColor'> {
  return {
    color: position => colorOn(dark, position),
    textColor: position => textOn(colorOn(dark, position))
  };
}
