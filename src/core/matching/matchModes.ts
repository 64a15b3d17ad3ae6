/** Ways to find counterparts; separate from the matchers for hosts that only store the choice. */

export const MATCH_MODES = ['auto', 'name', 'tag'] as const;
/**
 * `name`: exact names only; `tag`: operators of the same module, in order; `auto`: most reliable rules
 * first.
 */
export type MatchMode = (typeof MATCH_MODES)[number];

export function isMatchMode(value: unknown): value is MatchMode {
  return MATCH_MODES.some(mode => mode === value);
}
