/** Chooses how wide the rows of a picture are: so that all of it is as large as can be in the pane. */

import { LEAST_ZOOM, PADDING, READ_ZOOM, zoomIn } from './pane';
import type { Flow, IPane, IRowWidth } from './types';

/** From this zoom on one row is right whatever rows would give. */
const COMFORT = READ_ZOOM;
/** A picture of which every title is read at a glance is worth so much more. */
const READABLE = 1.12;
/** And one that can be read as a whole so much more than one that cannot. */
const WHOLE = 1.3;
/** So much larger must a picture in rows be than one in a row. */
const GAIN = 1.2;
/** By less no try is better than another. */
const LEAST_GAIN = 0.006;
/** Shares of a row that may stand beside an open group that wraps. */
const BESIDE = [0.45, 0.2] as const;
/** What stands beside an open group beats rows of its own at so much less zoom. */
const NEAR = 1.12;
/** What a break costs for every wire but the first that it tears, as a share of the zoom. */
const TANGLED = 0.1;
/** What a row of nothing but inputs or outputs costs. */
const LONE = 0.15;
/** From so many boxes on widths are not searched but taken from the area. */
const MANY = 600;
/** What rows save of the air in a picture in one row, and take for their gutters. */
const DENSER = 1.6;
/** Widths that a search tries, and how close two zooms are alike. */
const TRIES = 6;
const CLOSE = 1.04;
/** No row is meant for less zoom. */
const LEAST = 0.3;

/** Size of a picture, and how its rows break it. */
export interface ITried {
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
  inRows(rows: IRowWidth): Promise<ITried | null>;
  isCurrent(): boolean;
}

/** What a zoom is worth: more where the picture can be read as a whole, and more where at a glance. */
function worth(zoom: number): number {
  const whole = zoom >= LEAST_ZOOM ? WHOLE : 1;
  return zoom * whole * (zoom >= READ_ZOOM ? READABLE : 1);
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
class Search {
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
    for (const beside of BESIDE) {
      const tried = await this._try(zoom, beside);
      reached = Math.max(reached, tried ? zoomIn(tried, this._pane) : 0);
    }
    return reached >= zoom / CLOSE;
  }

  /** For pictures of so many boxes that every try takes long: two, each by the area of the one before. */
  async byArea(): Promise<void> {
    const first = estimate(this._view.straight, this._pane, DENSER);
    const tried = await this._try(first, BESIDE[0]);
    const second = tried ? estimate(tried, this._pane) : first;
    if (Math.max(first, second) > Math.min(first, second) * 1.15) {
      await this._try(second, BESIDE[0]);
    }
  }

  private async _try(zoom: number, beside: number): Promise<ITried | null> {
    const rows = widthAt(zoom, this._pane, beside);
    const tried = await this._view.inRows(rows);
    if (tried) {
      const k = zoomIn(tried, this._pane);
      const near = beside === BESIDE[0] ? NEAR : 1;
      const cost = 1 + TANGLED * tried.tangle + LONE * tried.lone;
      const score = (worth(k) * near) / cost;
      if (score > this._best.score * (1 + LEAST_GAIN)) {
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
    low = Math.max(low, this._best.zoom, LEAST);
    for (let i = 0; i < TRIES && high > low * CLOSE; i++) {
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
  const zoom = zoomIn(straight, pane);
  const isAuto = flow === 'auto';
  const enough = isAuto ? COMFORT : 1;
  if (zoom >= enough) {
    // What is opened later wraps where it no longer fits.
    return widthAt(enough, pane, BESIDE[0]);
  }
  const score = isAuto ? worth(zoom) * GAIN : 0;
  const best = { rows: null, score, zoom: isAuto ? zoom : 0 };
  const search = new Search(view, pane, best);
  if (view.boxes > MANY) {
    await search.byArea();
  } else {
    // Who asks for rows gets more than one.
    const one = (pane.w - 2 * PADDING) / straight.width;
    await search.run(isAuto ? zoom : Math.max(LEAST, one * CLOSE));
  }
  if (search.rows || !isAuto) {
    return search.rows;
  }
  // In one row all the same, which just fits: what is opened later wraps at its width.
  const { room, beside } = widthAt(zoom, pane, BESIDE[1]);
  return { room: Math.ceil(room) + 1, beside };
}
