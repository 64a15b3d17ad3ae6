/** Chooses how wide the rows of a picture are: so that all of it is as large as can be in the pane. */

import {
  MIN_READABLE_ZOOM,
  PADDING,
  COMFORTABLE_READING_ZOOM,
  fitZoom
} from '../layout/paneZoom';
import type { Flow, IPane, IRowWidth } from '../types';

/** From this zoom on one row is right whatever rows would give. */
const COMFORTABLE_ZOOM = COMFORTABLE_READING_ZOOM;
/** A picture of which every title is read at a glance is worth so much more. */
const READABLE_BONUS = 1.12;
/** And one that can be read as a whole so much more than one that cannot. */
const WHOLE_PICTURE_BONUS = 1.3;
/** So much larger must a picture in rows be than one in a row. */
const MIN_ROW_GAIN = 1.2;
/** By less no try is better than another. */
const MIN_SCORE_GAIN = 0.006;
/** Shares of a row that may stand beside an open group that wraps. */
const BESIDE_SHARES = [0.45, 0.2] as const;
/** What stands beside an open group beats rows of its own at so much less zoom. */
const BESIDE_ZOOM_RATIO = 1.12;
/** What a break costs for every wire but the first that it tears, as a share of the zoom. */
const TORN_WIRE_COST = 0.1;
/** What a row of nothing but inputs or outputs costs. */
const LONE_ROW_COST = 0.15;
/** From so many boxes on widths are not searched but taken from the area. */
const MAX_SEARCHED_BOXES = 600;
/** What rows save of the air in a picture in one row, and take for their gutters. */
const ROW_DENSITY = 1.6;
/** Widths that a search tries, and how close two zooms are alike. */
const MAX_TRIALS = 6;
const SAME_ZOOM_RATIO = 1.04;
/** No row is meant for less zoom. */
const MIN_ROW_ZOOM = 0.3;

/** Size of a picture, and how its rows break it. */
export interface IRowTrial {
  readonly width: number;
  readonly height: number;
  /** Wires but the first that a break tears, on average. */
  readonly tangle: number;
  /** Rows in which nothing stands but inputs or outputs. */
  readonly lone: number;
}

/** What can be arranged; null answers: something came in between. */
export interface IArrangeable {
  /** Boxes to see. */
  readonly boxes: number;
  /** In one row. */
  readonly straight: { readonly width: number; readonly height: number };
  /** Lays the picture out in rows; null where the same was tried before. */
  inRows(rows: IRowWidth): Promise<IRowTrial | null>;
  isCurrent(): boolean;
}

/** What a zoom is worth: more where the picture can be read as a whole, and more where at a glance. */
function zoomScore(zoom: number): number {
  const whole = zoom >= MIN_READABLE_ZOOM ? WHOLE_PICTURE_BONUS : 1;
  return zoom * whole * (zoom >= COMFORTABLE_READING_ZOOM ? READABLE_BONUS : 1);
}

/** Rows as wide as the pane at a zoom. */
function widthAt(zoom: number, pane: IPane, beside: number): IRowWidth {
  return { room: (pane.w - 2 * PADDING) / zoom, beside };
}

/** The zoom at which a picture of the same area fits. */
function estimate(
  { width, height }: { readonly width: number; readonly height: number },
  pane: IPane,
  share = 1
): number {
  const area = Math.max(1, width * height * share);
  return Math.min(1, Math.sqrt((pane.w * pane.h) / area));
}

/** Narrower rows make a picture higher: the best is where width and height ask for the same zoom. */
class RowWidthSearch {
  constructor(
    private readonly _view: IArrangeable,
    private readonly _pane: IPane,
    private _best: { rows: IRowWidth | null; score: number; zoom: number }
  ) {}

  get rows(): IRowWidth | null {
    return this._best.rows;
  }

  /** Tries rows meant for a zoom; whether all of the picture is in view at that zoom. */
  async at(zoom: number): Promise<boolean> {
    let reached = 0;
    for (const beside of BESIDE_SHARES) {
      const tried = await this._try(zoom, beside);
      reached = Math.max(reached, tried ? fitZoom(tried, this._pane) : 0);
    }
    return reached >= zoom / SAME_ZOOM_RATIO;
  }

  /** For pictures of so many boxes that every try takes long: two, each by the area of the one before. */
  async byArea(): Promise<void> {
    const first = estimate(this._view.straight, this._pane, ROW_DENSITY);
    const tried = await this._try(first, BESIDE_SHARES[0]);
    const second = tried ? estimate(tried, this._pane) : first;
    if (Math.max(first, second) > Math.min(first, second) * 1.15) {
      await this._try(second, BESIDE_SHARES[0]);
    }
  }

  private async _try(zoom: number, beside: number): Promise<IRowTrial | null> {
    const rows = widthAt(zoom, this._pane, beside);
    const tried = await this._view.inRows(rows);
    if (tried) {
      const k = fitZoom(tried, this._pane);
      const near = beside === BESIDE_SHARES[0] ? BESIDE_ZOOM_RATIO : 1;
      const cost =
        1 + TORN_WIRE_COST * tried.tangle + LONE_ROW_COST * tried.lone;
      const score = (zoomScore(k) * near) / cost;
      if (score > this._best.score * (1 + MIN_SCORE_GAIN)) {
        this._best = { rows, score, zoom: k };
      }
    }
    return tried;
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
 * The width of the rows for a pane; null: one row, whatever is opened later. `auto` takes one row where
 * that can be read, or rows would gain little; `wrapped` only where it fits at full size. What is opened
 * later wraps at that width.
 */
export async function bestRows(
  view: IArrangeable,
  pane: IPane,
  flow: Flow & ('auto' | 'wrapped')
): Promise<IRowWidth | null> {
  const { straight } = view;
  const zoom = fitZoom(straight, pane);
  const isAuto = flow === 'auto';
  const enough = isAuto ? COMFORTABLE_ZOOM : 1;
  if (zoom >= enough) {
    // What is opened later wraps where it no longer fits.
    return widthAt(enough, pane, BESIDE_SHARES[0]);
  }
  const score = isAuto ? zoomScore(zoom) * MIN_ROW_GAIN : 0;
  const best = { rows: null, score, zoom: isAuto ? zoom : 0 };
  const search = new RowWidthSearch(view, pane, best);
  if (view.boxes > MAX_SEARCHED_BOXES) {
    await search.byArea();
  } else {
    // Who asks for rows gets more than one.
    const one = (pane.w - 2 * PADDING) / straight.width;
    await search.run(
      isAuto ? zoom : Math.max(MIN_ROW_ZOOM, one * SAME_ZOOM_RATIO)
    );
  }
  if (search.rows || !isAuto) {
    return search.rows;
  }
  // In one row all the same, which just fits: what is opened later wraps at its width.
  const { room, beside } = widthAt(zoom, pane, BESIDE_SHARES[1]);
  return { room: Math.ceil(room) + 1, beside };
}
