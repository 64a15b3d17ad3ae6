/** Chooses the width of rows so that the whole graph is as large as possible in the pane. */

import {
  MIN_READABLE_ZOOM,
  PADDING,
  COMFORTABLE_READING_ZOOM,
  fitZoom
} from '../layout/paneZoom';
import type { Flow, IPane, IRowWidth } from '../types';

/** Zoom from which a single row is used, whatever rows would gain. */
const COMFORTABLE_ZOOM = COMFORTABLE_READING_ZOOM;
/** Factor for a layout in which every title is comfortable to read. */
const READABLE_BONUS = 1.12;
/** Factor for a layout that is readable as a whole. */
const WHOLE_PICTURE_BONUS = 1.3;
/** Minimum gain in score of rows over a single row. */
const MIN_ROW_GAIN = 1.2;
/** Minimum gain for one trial to replace another. */
const MIN_SCORE_GAIN = 0.006;
/** Shares of a row that may lie next to an open group that wraps. */
const BESIDE_SHARES = [0.45, 0.2] as const;
/** Ratio of zooms up to which items next to an open group are preferred to rows of their own. */
const BESIDE_ZOOM_RATIO = 1.12;
/** Cost of a break for every wire after the first that it cuts, as a share of the zoom. */
const CUT_WIRE_COST = 0.1;
/** Cost of a row with only inputs or outputs. */
const PORT_ROW_COST = 0.15;
/** Above this many boxes, widths are derived from the area instead of searched. */
const MAX_SEARCHED_BOXES = 600;
/** Area of a layout in rows relative to a single row: less empty space, but gutters. */
const ROW_DENSITY = 1.6;
/** Maximum number of widths to try, and the ratio up to which two zooms count as equal. */
const MAX_TRIALS = 6;
const SAME_ZOOM_RATIO = 1.04;
/** Minimum zoom that rows are intended for. */
const MIN_ROW_ZOOM = 0.3;

/** Size of a trial layout, and how its rows break it. */
export interface IRowTrial {
  readonly width: number;
  readonly height: number;
  /** Wires after the first that a break cuts, on average. */
  readonly cuts: number;
  /** Number of rows with only inputs or outputs. */
  readonly portRows: number;
}

/** A graph whose rows can be arranged; null results mean that it was interrupted. */
export interface IArrangeable {
  /** Number of visible boxes. */
  readonly boxes: number;
  /** Size in a single row. */
  readonly straight: { readonly width: number; readonly height: number };
  /** Lays out the graph in rows; null if the same was tried before. */
  inRows(rows: IRowWidth): Promise<IRowTrial | null>;
  isCurrent(): boolean;
}

/** Score of a zoom: higher if the whole graph is readable, and if it is comfortable to read. */
function zoomScore(zoom: number): number {
  const bonus = zoom >= MIN_READABLE_ZOOM ? WHOLE_PICTURE_BONUS : 1;
  return zoom * bonus * (zoom >= COMFORTABLE_READING_ZOOM ? READABLE_BONUS : 1);
}

/** Rows as wide as the pane at a zoom. */
function widthAt(zoom: number, pane: IPane, beside: number): IRowWidth {
  return { room: (pane.w - 2 * PADDING) / zoom, beside };
}

/** The zoom at which a graph of the same area fits. */
function estimate(
  { width, height }: { readonly width: number; readonly height: number },
  pane: IPane,
  share = 1
): number {
  const area = Math.max(1, width * height * share);
  return Math.min(1, Math.sqrt((pane.w * pane.h) / area));
}

/** Narrower rows make a graph higher: the best width requires the same zoom as the height. */
class RowWidthSearch {
  constructor(
    private readonly _view: IArrangeable,
    private readonly _pane: IPane,
    private _best: { rows: IRowWidth | null; score: number; zoom: number }
  ) {}

  get rows(): IRowWidth | null {
    return this._best.rows;
  }

  /** Tries rows intended for a zoom; returns whether the whole graph fits at that zoom. */
  async at(zoom: number): Promise<boolean> {
    let bestZoom = 0;
    for (const beside of BESIDE_SHARES) {
      const trial = await this._try(zoom, beside);
      bestZoom = Math.max(bestZoom, trial ? fitZoom(trial, this._pane) : 0);
    }
    return bestZoom >= zoom / SAME_ZOOM_RATIO;
  }

  /**
   * For graphs with so many boxes that every trial takes long: two trials, each based on the area of the
   * previous layout.
   */
  async byArea(): Promise<void> {
    const first = estimate(this._view.straight, this._pane, ROW_DENSITY);
    const trial = await this._try(first, BESIDE_SHARES[0]);
    const second = trial ? estimate(trial, this._pane) : first;
    if (Math.max(first, second) > Math.min(first, second) * 1.15) {
      await this._try(second, BESIDE_SHARES[0]);
    }
  }

  private async _try(zoom: number, beside: number): Promise<IRowTrial | null> {
    const rows = widthAt(zoom, this._pane, beside);
    const trial = await this._view.inRows(rows);
    if (trial) {
      const k = fitZoom(trial, this._pane);
      const preference = beside === BESIDE_SHARES[0] ? BESIDE_ZOOM_RATIO : 1;
      const cost =
        1 + CUT_WIRE_COST * trial.cuts + PORT_ROW_COST * trial.portRows;
      const score = (zoomScore(k) * preference) / cost;
      if (score > this._best.score * (1 + MIN_SCORE_GAIN)) {
        this._best = { rows, score, zoom: k };
      }
    }
    return trial;
  }

  async run(low: number): Promise<void> {
    if (await this.at(1)) {
      return;
    }
    let high = 1;
    low = Math.max(low, this._best.zoom, MIN_ROW_ZOOM);
    for (let i = 0; i < MAX_TRIALS && high > low * SAME_ZOOM_RATIO; i++) {
      const middle = Math.sqrt(low * high);
      if (!this._view.isCurrent()) {
        return;
      }
      if (await this.at(middle)) {
        low = Math.max(middle, this._best.zoom);
      } else {
        high = middle;
        low = Math.max(low, Math.min(middle, this._best.zoom));
      }
    }
  }
}

/**
 * The width of the rows for a pane; null for a single row, whatever is opened later. `auto` uses a single
 * row if that is readable or rows gain little; `wrapped` only if it fits at full size. Groups opened
 * later wrap at that width.
 */
export async function bestRows(
  view: IArrangeable,
  pane: IPane,
  flow: Flow & ('auto' | 'wrapped')
): Promise<IRowWidth | null> {
  const { straight } = view;
  const zoom = fitZoom(straight, pane);
  const isAuto = flow === 'auto';
  const minZoom = isAuto ? COMFORTABLE_ZOOM : 1;
  if (zoom >= minZoom) {
    // Groups opened later wrap if they no longer fit.
    return widthAt(minZoom, pane, BESIDE_SHARES[0]);
  }
  const score = isAuto ? zoomScore(zoom) * MIN_ROW_GAIN : 0;
  const best = { rows: null, score, zoom: isAuto ? zoom : 0 };
  const search = new RowWidthSearch(view, pane, best);
  if (view.boxes > MAX_SEARCHED_BOXES) {
    await search.byArea();
  } else {
    // A user who asks for rows gets more than one.
    const zoomToWidth = (pane.w - 2 * PADDING) / straight.width;
    await search.run(
      isAuto ? zoom : Math.max(MIN_ROW_ZOOM, zoomToWidth * SAME_ZOOM_RATIO)
    );
  }
  if (search.rows || !isAuto) {
    return search.rows;
  }
  // A single row that just fits: groups opened later wrap at its width.
  const { room, beside } = widthAt(zoom, pane, BESIDE_SHARES[1]);
  return { room: Math.ceil(room) + 1, beside };
}
