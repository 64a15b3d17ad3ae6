/** Names come from untrusted files: React escapes them, and this module shows hidden characters. */

/** C0/C1 controls, zero-width and bidirectional control characters. */
const INVISIBLE =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

/** Escapes invisible characters as `\u202e`, so that they cannot disguise a name. */
export function escapeInvisible(text: string): string {
  return text.replace(
    INVISIBLE,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  );
}

/** For tooltips and labels: escaped, and truncated. */
export function shortLabel(text: string, limit = 300): string {
  const visible = escapeInvisible(
    text.length > limit ? `${text.slice(0, limit)}…` : text
  );
  return visible;
}
