/** Draws graphs without a browser, with the same layout and drawing code. */
import { chosenDevice, withLatency } from '../../core/latency/latencyEstimate';
import { decodePayload } from '../../core/model/decodePayload';
import { buildTree } from '../../core/tree/groupTree';
import type { Flow, IGraphView, IPane, IDeviceChoice } from '../../core/types';
import { createGraphView } from '../../core/view/graphView';
import type { GraphPayload } from '../../schema';
import { DEFAULT_DETAILS } from '../graph/surfaceApi';
import { CardContents } from '../graph/cards/cardContents';
import { SpatialIndex } from '../graph/scene/spatialIndex';
import { createSizer } from '../graph/cards/cardSizer';
import { BoxColors } from '../graph/style/boxColors';
import { TextMeasure } from '../graph/text/textMeasure';
import { defaultOverlay, OVERLAYS, type OverlayId } from '../overlays';
import { computeOverlay } from '../overlays/computeOverlay';
import { setUserValues } from '../overlays/userOverlay';
import { IDENTITY } from '../i18n/translate';
import { pictureCaption, pictureLegend } from './pictureCaption';
import { sheetPalette } from './plainColors';
import { makePage } from './pictureLayout';
import { wholeSceneRect } from './drawPicture';
import { SvgFileTarget } from './svgFileTarget';
import type { IGroupTree } from '../../core/tree/treeTypes';

/** Fonts with the widths of `graph/text/helveticaAdvances.ts`. */
const FONT =
  'Helvetica, Arial, "Liberation Sans", "Nimbus Sans", Arimo, sans-serif';

export interface IHeadlessOptions {
  readonly dark: boolean;
  /** Arrangement of the graph; if absent, one row or several, whichever is more readable. */
  readonly direction?: Flow;
  /** Target aspect ratio (width by height) of rows; default `ASPECT`. */
  readonly aspect?: number;
  /** `auto`: the overlay of a new view. */
  readonly overlay: OverlayId | 'auto' | 'none';
  /** Levels of blocks to expand; null for those of a new view, with at most `budget` boxes. */
  readonly depth: number | null;
  readonly budget: number;
  /** Maximum number of cards. */
  readonly most: number;
  /** Device for latencies; null for the one chosen for the analysis. */
  readonly device?: IDeviceChoice | null;
  /** Values of the overlay `user`, by node id. */
  readonly user?: {
    readonly label: string;
    readonly unit: string;
    readonly values: Readonly<Record<string, number>>;
  } | null;
}

/** Default aspect ratio, about that of a screen. */
const ASPECT = 1.6;
/** Area of the pane for which rows are arranged, in pixels. */
const AREA = 1600 * 1000;

function paneOf({ aspect = ASPECT }: IHeadlessOptions): IPane {
  const h = Math.sqrt(AREA / aspect);
  return { w: h * aspect, h };
}

/** Thrown if a picture would have more cards than allowed. */
export class TooManyBoxes extends Error {
  constructor(readonly count: number) {
    super(`The picture would have ${count} boxes.`);
    this.name = 'TooManyBoxes';
  }
}

async function open(
  view: IGraphView,
  options: IHeadlessOptions
): Promise<void> {
  const { depth, budget, most: maxBoxes } = options;
  const { flow } = view;
  const inPane = flow === 'auto' || flow === 'wrapped';
  if (depth === null) {
    // A page scrolls, so a single row or column may have any length.
    await (inPane
      ? view.openInitialIn(budget, flow, paneOf(options))
      : view.openInitial(budget));
    return;
  }
  const { groupCount, groupDepth, children } = view.tree;
  const opened: number[] = [];
  let count = children[0].length;
  for (let group = 0; group < groupCount; group++) {
    if (groupDepth[group] < depth) {
      opened.push(group);
      count += children[group + 1].length;
    }
  }
  if (count > maxBoxes) {
    throw new TooManyBoxes(count);
  }
  await view.restore(opened);
  if (inPane) {
    await view.setFlow(flow, paneOf(options));
  }
}

/**
 * The graph of a payload as a standalone SVG file; `sheet` is the style sheet with the colours.
 *
 * Rejects with `TooManyBoxes` if `depth` expands more than `most`.
 */
export async function headlessSvg(
  payload: GraphPayload,
  sheet: string,
  options: IHeadlessOptions,
  /** Prepares the tree before it is drawn; returns an entity that must be visible, or null. */
  prepare: (tree: IGroupTree) => number | null = () => null
): Promise<string> {
  const { dark } = options;
  const device = options.device ?? chosenDevice(payload);
  const model = withLatency(decodePayload(payload), device);
  const tree = buildTree(model);
  const { user } = options;
  if (user) {
    const values = Object.entries(user.values);
    setUserValues(tree, {
      ...user,
      values: new Map(values.map(([node, value]) => [Number(node), value]))
    });
  }
  const view = createGraphView(
    tree,
    createSizer(model, tree),
    undefined,
    options.direction ?? 'auto'
  );
  const group = prepare(tree);
  await open(view, options);
  if (group !== null) {
    await view.reveal(group);
  }
  const { scene } = view;
  const measure = new TextMeasure(FONT);
  const cards = new CardContents(
    model,
    tree,
    DEFAULT_DETAILS,
    undefined,
    measure
  );
  // Without a device there are no times to show.
  const untimed = options.overlay === 'latency' && !model.latency;
  const id =
    options.overlay === 'auto' || untimed
      ? defaultOverlay(tree)
      : options.overlay;
  const look = { scale: 'linear', dark } as const;
  const painted =
    id === null || id === 'none'
      ? null
      : computeOverlay(OVERLAYS[id], scene, tree, look);
  const paint = new BoxColors(scene, model, painted?.overlay ?? null, tree);
  const page = makePage(
    {
      drawing: { scene, model, tree, paint, cards, measure },
      index: new SpatialIndex(scene),
      region: wholeSceneRect(scene),
      k: 1,
      only: null
    },
    pictureCaption(model, IDENTITY, tree),
    painted && id !== null && id !== 'none'
      ? pictureLegend(id, painted.range, tree, look, IDENTITY)
      : null,
    measure
  );
  const file = new SvgFileTarget(sheetPalette(sheet, dark, FONT), measure);
  page.draw(file);
  return file.file(page.width, page.height, page.title);
}
