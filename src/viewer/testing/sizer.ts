/** Replaces `graph/cards/cardSizer`, which needs a browser to measure text. */

import type { ISizer } from '../../core/types';

export function createSizer(): ISizer {
  const size = (): { w: number; h: number } => ({ w: 100, h: 40 });
  return { node: size, group: size, pill: size, title: () => 60 };
}
