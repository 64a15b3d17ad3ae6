/** Validates link options stored by a host. */

import { isMatchMode } from '../../core/matching/matchModes';
import { DEFAULT_LINK } from '../state/linkedViews';
import type { ILinkOptions } from '../state/linkedViews';

/** Invalid values keep their default. Never throws. */
export function readLinkOptions(value: unknown): ILinkOptions {
  const raw =
    typeof value === 'object' && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : {};
  return {
    match: isMatchMode(raw.match) ? raw.match : DEFAULT_LINK.match,
    camera: raw.camera === true
  };
}
