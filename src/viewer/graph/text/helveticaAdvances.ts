/**
 * Character advances for environments that cannot measure text: Node.js, workers, tests. They are those
 * of Helvetica, which Arial, Liberation Sans and Nimbus Sans share, in thousandths of the font size, for
 * the characters from space to tilde (Adobe Font Metrics, core 14 fonts).
 */
import { ownValue } from '../../../core/base/ownValue';

const FIRST = 32;
const REGULAR = widths(
  '278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 ' +
    '556 556 556 556 556 556 556 556 556 556 278 278 584 584 584 556 ' +
    '1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 ' +
    '667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 ' +
    '333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 ' +
    '556 556 333 500 278 556 500 722 500 500 500 334 260 334 584'
);
const BOLD = widths(
  '278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 ' +
    '556 556 556 556 556 556 556 556 556 556 333 333 584 584 584 611 ' +
    '975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 ' +
    '667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556 ' +
    '333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 ' +
    '611 611 389 556 333 611 556 778 556 556 500 389 280 389 584'
);
/** Non-ASCII characters used on cards. */
const OTHER_ADVANCES: Readonly<Record<string, number>> = {
  '\u00a0': 278,
  '·': 278,
  '×': 584,
  '≥': 549,
  '–': 556,
  '—': 1000,
  '…': 1000
};
/** Letters of other alphabets: slightly too wide, so that nothing overflows. */
const LETTER_ADVANCE = 640;
/** Scripts whose characters fill a square: kana, hangul, ideographs, full-width forms, emoji. */
const SQUARE =
  /[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60]|[\ud83c-\ud87f]/;
/** Combined with the preceding character. */
const COMBINING = /\p{M}/u;
/** Heaviest weight that uses the regular advances; above it, bold. */
const HEAVIEST_REGULAR = 550;

function widths(list: string): readonly number[] {
  return list.split(' ').map(Number);
}

/** Advance of one character as a share of the font size. */
export function advanceOf(char: string, weight: number): number {
  const code = char.codePointAt(0) ?? 0;
  const table = weight > HEAVIEST_REGULAR ? BOLD : REGULAR;
  const advance = table[code - FIRST] ?? ownValue(OTHER_ADVANCES, char);
  if (advance !== undefined) {
    return advance / 1000;
  }
  return COMBINING.test(char)
    ? 0
    : SQUARE.test(char)
      ? 1
      : LETTER_ADVANCE / 1000;
}
