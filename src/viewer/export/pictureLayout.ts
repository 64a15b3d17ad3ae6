/** A page with a picture, its caption and the legend of its heatmap. */
import type { TextMeasure } from '../graph/text/textMeasure';
import { cleanText } from '../graph/text/textMeasure';
import type { IRect } from '../graph/geometry/camera';
import { drawPicture, type IPicture } from './drawPicture';
import type { IPageTarget } from './pageTarget';

/** Meaning of the colours. */
export interface ILegend {
  readonly label: string;
  /** Ends of the ramp; empty if no value is known. */
  readonly low: string;
  readonly high: string;
  /** Such as `log`. */
  readonly scale: string;
  /** `3 boxes unknown`, or empty. */
  readonly unknown: string;
  /** What the numbers apply to; may be empty. */
  readonly about: string;
  color(position: number): string;
  /** States instead of a ramp. */
  readonly states?: readonly {
    readonly color: string;
    /** Colour of the sign on `color`. */
    readonly text: string;
    readonly sign: string;
    readonly label: string;
    /** Dashes of its wires, if they differ from the others. */
    readonly dash?: readonly number[];
  }[];
}

export interface ICaption {
  readonly title: string;
  readonly lines: readonly string[];
}

export interface IPage {
  /** In pixels at scale 1. */
  readonly width: number;
  readonly height: number;
  readonly title: string;
  /** Draws all of it, or the contents of `clip` (in page pixels). */
  draw(target: IPageTarget, clip?: IRect): void;
}

/** Separator between the parts of a caption line. */
export const SEPARATOR = ' · ';

const MARGIN = 24;
const GAP = 18;
const MIN_WIDTH = 420;
const TITLE = 14;
const LINE = 11;
const LINE_HEIGHT = 17;
const RAMP_WIDTH = 190;
const RAMP_HEIGHT = 9;
const RAMP_STEPS = 32;
const LEGEND_HEIGHT = 48;
/** A sample wire next to the name of its state. */
const WIRE_FROM = 110;
const WIRE_TO = 158;
/** Maximum width of the caption next to the legend. */
const MAX_TEXT_WIDTH = 620;
/** Minimum width for the legend to be next to the caption. */
const MIN_WIDTH_BESIDE = 680;

/** Measures the page without drawing it. */
export function makePage(
  picture: IPicture,
  caption: ICaption,
  legend: ILegend | null,
  measure: TextMeasure
): IPage {
  const { region, k } = picture;
  const inner = Math.max(MIN_WIDTH, region.w * k);
  const isBeside = legend !== null && inner >= MIN_WIDTH_BESIDE;
  // On a very wide page the two stay together.
  const maxWidth = isBeside
    ? Math.min(MAX_TEXT_WIDTH, inner - RAMP_WIDTH - 40)
    : inner;
  const lines = caption.lines.flatMap(line =>
    wrapLine(line, maxWidth, measure)
  );
  const textHeight = TITLE + 6 + lines.length * LINE_HEIGHT;
  const legendHeight =
    legend === null
      ? 0
      : (legend.states
          ? LINE_HEIGHT * (legend.states.length + 1)
          : LEGEND_HEIGHT) +
        [legend.unknown, legend.about].filter(Boolean).length * LINE_HEIGHT;
  const footer = isBeside
    ? Math.max(textHeight, legendHeight)
    : textHeight + (legend ? GAP + legendHeight : 0);
  const top = MARGIN + region.h * k + GAP;
  const width = Math.ceil(inner + 2 * MARGIN);
  const height = Math.ceil(top + footer + MARGIN);
  const left = MARGIN + Math.max(0, (inner - region.w * k) / 2);
  return {
    width,
    height,
    title: cleanText(caption.title),
    draw: (target, clip = { x: 0, y: 0, w: width, h: height }) => {
      target.rect(0, 0, width, height, 0, { fill: '--oad-ground' });
      target.clip(left, MARGIN, region.w * k, region.h * k);
      target.push(left - region.x * k, MARGIN - region.y * k, k);
      drawPicture(picture, target, {
        x: (clip.x - left) / k + region.x,
        y: (clip.y - MARGIN) / k + region.y,
        w: clip.w / k,
        h: clip.h / k
      });
      target.pop();
      target.pop();
      drawCaption(
        { ...caption, lines },
        MARGIN,
        top,
        maxWidth,
        measure,
        target
      );
      if (legend) {
        const x = isBeside ? MARGIN + maxWidth + 40 : MARGIN;
        drawLegend(legend, x, isBeside ? top : top + textHeight + GAP, target);
      }
    }
  };
}

/** Wraps the parts of a line onto as many lines as needed. */
function wrapLine(
  line: string,
  maxWidth: number,
  measure: TextMeasure
): string[] {
  const lines: string[] = [];
  for (const segment of line.split(SEPARATOR)) {
    const last = lines.length - 1;
    const longer = last < 0 ? segment : `${lines[last]}${SEPARATOR}${segment}`;
    if (last >= 0 && measure.width(longer, LINE) <= maxWidth) {
      lines[last] = longer;
    } else {
      lines.push(segment);
    }
  }
  return lines;
}

function drawCaption(
  caption: ICaption,
  x: number,
  y: number,
  maxWidth: number,
  measure: TextMeasure,
  target: IPageTarget
): void {
  const title = measure.shorten(caption.title, maxWidth, TITLE, 600);
  const style = { size: TITLE, weight: 600, fill: '--oad-text' };
  target.text(x, y + TITLE, title, style);
  caption.lines.forEach((line, i) => {
    const baseline = y + TITLE + 6 + (i + 1) * LINE_HEIGHT - 4;
    const text = measure.shorten(line, maxWidth, LINE);
    target.text(x, baseline, text, { size: LINE, fill: '--oad-text-quiet' });
  });
}

function drawLegend(
  legend: ILegend,
  x: number,
  y: number,
  target: IPageTarget
): void {
  const style = { size: LINE, fill: '--oad-text-quiet' };
  const right = x + RAMP_WIDTH;
  target.text(x, y + LINE, legend.label, {
    size: LINE,
    weight: 600,
    fill: '--oad-text'
  });
  if (legend.states) {
    legend.states.forEach(({ color, text, sign, label, dash }, index) => {
      const line = y + (index + 1) * LINE_HEIGHT;
      target.rect(x, line + 2, 18, LINE_HEIGHT - 3, 3, { fill: color });
      target.text(x + 9, line + LINE, sign, {
        size: LINE,
        weight: 600,
        fill: text,
        anchor: 'middle'
      });
      target.text(x + 24, line + LINE, label, style);
      if (dash) {
        const wire = `M${x + WIRE_FROM},${line + LINE - 4}H${x + WIRE_TO}`;
        target.path(wire, { stroke: color, width: 1.5, dash });
      }
    });
    const below = y + (legend.states.length + 1) * LINE_HEIGHT + LINE;
    if (legend.about) {
      target.text(x, below, legend.about, style);
    }
    return;
  }
  target.text(right, y + LINE, legend.scale, { ...style, anchor: 'end' });
  const top = y + LINE + 7;
  const step = RAMP_WIDTH / RAMP_STEPS;
  for (let i = 0; i < RAMP_STEPS; i++) {
    // Slightly wider, so that the background does not show between steps.
    const wide = i + 1 < RAMP_STEPS ? step + 0.6 : step;
    const fill = legend.color((i + 0.5) / RAMP_STEPS);
    target.rect(x + i * step, top, wide, RAMP_HEIGHT, 0, { fill });
  }
  const ends = top + RAMP_HEIGHT + LINE + 3;
  target.text(x, ends, legend.low, style);
  target.text(right, ends, legend.high, { ...style, anchor: 'end' });
  if (legend.about) {
    target.text(x, ends + LINE_HEIGHT, legend.about, style);
  }
  if (legend.unknown) {
    const line = ends + (legend.about ? 2 : 1) * LINE_HEIGHT;
    target.rect(x, line - 9, 10, 10, 2, { fill: '--oad-card-unknown' });
    target.text(x + 16, line, legend.unknown, style);
  }
}
