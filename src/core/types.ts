/**
 * What the core offers and the viewer draws. No React and no DOM below this folder.
 *
 * Entities are ints: `0 … nodeCount-1` are nodes, `nodeCount … nodeCount+groupCount-1` are groups
 * (entity = nodeCount + group). Boxes are indices into a scene and change with every scene.
 */

import type { DeviceMetric, StoredMetric } from '../schema/metrics';
import type { GraphPayload, HardwarePart } from '../schema';

/** How a node runs, where that is not as often as the payload says. */
export const NODE_RUNS = {
  told: 0,
  /** In a loop of unknown length: its cost is that of one iteration. */
  endless: 1,
  /** In a branch of an If that the totals leave out. */
  out: 2
} as const;

/** A model decoded for drawing: columns as typed arrays, NaN where a number is unknown. */
export interface IGraphModel {
  readonly nodeCount: number;
  readonly tensorCount: number;
  readonly payload: GraphPayload;
  readonly nodeOp: Int32Array;
  readonly nodeScope: Int32Array;
  readonly nodeGraph: Int32Array;
  /** 1 for Constant nodes, which are not drawn. */
  readonly nodeConstant: Uint8Array;
  /** One of `NODE_RUNS` for each node. */
  readonly nodeRuns: Uint8Array;
  readonly inputOffsets: Int32Array;
  readonly inputs: Int32Array;
  readonly outputOffsets: Int32Array;
  readonly outputs: Int32Array;
  readonly metrics: Readonly<Record<MetricId, Float64Array>>;
  /** The estimate behind `metrics.latency`; null while no device is chosen. */
  readonly latency: ILatencyEstimate | null;
  readonly tensorKind: Uint8Array;
  readonly tensorProducer: Int32Array;
  /** CSR of consuming nodes by tensor. */
  readonly consumerOffsets: Int32Array;
  readonly consumers: Int32Array;
  nodeName(node: number): string;
  opType(node: number): string;
  category(node: number): string;
  tensorName(tensor: number): string;
  /** `1×64×56×56`, `batch×768`, `?` when unknown. */
  shapeText(tensor: number): string;
  dtypeText(tensor: number): string;
}

/** Numbers of a node: columns of the payload, and the seconds that a chosen device takes. */
export type MetricId = PayloadMetric | DeviceMetric;

export type PayloadMetric = StoredMetric;

/** The tree of boxes. Group 0 … groupCount-1; `children[0]` belongs to the root, `children[g+1]` to group g. */
export interface ITree {
  readonly model: IGraphModel;
  readonly groupCount: number;
  readonly groupParent: Int32Array;
  readonly groupLabel: readonly string[];
  /** Class name, or empty. */
  readonly groupType: readonly string[];
  /** What a group without a class does, told from its operators; or empty. */
  readonly groupRole: readonly string[];
  /** Nodes below, Constant nodes excluded. */
  readonly groupSize: Int32Array;
  readonly groupDepth: Int32Array;
  /** 1 for the box around the parts of a repeat. */
  readonly groupFold: Uint8Array;
  /** 1 for a box of what only prepares sizes or weights, with the node that it is for or without. */
  readonly groupPlumbing: Uint8Array;
  /** The node that such a box is for; -1 where several read it, and for all other groups. */
  readonly groupMain: Int32Array;
  /**
   * Groups of what only prepares that are chips on the card of the node or group (entity) which alone reads
   * them, while both are closed.
   */
  readonly groupChips: ReadonlyMap<number, readonly number[]>;
  /** Group of each node, -1 = root. */
  readonly nodeParent: Int32Array;
  /** Entities of each level, in order of first node. */
  readonly children: readonly Int32Array[];
  /** Sum over the nodes below; unknown parts are left out and counted in `groupUnknown`. */
  readonly groupMetrics: Readonly<Record<MetricId, Float64Array>>;
  readonly groupUnknown: Readonly<Record<MetricId, Int32Array>>;
  /** Model inputs and outputs that the picture shows as one pill, by tensor. */
  readonly series: SeriesByTensor;
  /** Path of labels from the root to the entity's parent group. */
  path(entity: number): string[];
}

/** Which way tensors flow through the picture: from left to right, or from top to bottom. */
export type FlowDirection = 'right' | 'down';

/**
 * How a picture is set. `wrapped`: from left to right in rows, like text. `auto`: in one row or in several,
 * whichever shows more in the pane.
 */
export type Flow = 'auto' | FlowDirection | 'wrapped';

export const FLOWS: readonly Flow[] = ['auto', 'right', 'down', 'wrapped'];

/** The place for a picture, in pixels of the screen. */
export interface IPane {
  readonly w: number;
  readonly h: number;
}

/** Rows of a picture: what is wider goes on in a next row. */
export interface IRowWidth {
  /** Width of the picture, px at zoom 1. */
  readonly room: number;
  /** Share of a row that may stand beside an open group that is in rows itself. */
  readonly beside: number;
  /** Cards are short ones: with whole cards the picture would not fit its pane. */
  readonly compact?: boolean;
}

export const enum BoxKind {
  Node = 0,
  /** A collapsed group: a card. */
  Group = 1,
  /** An open group: a panel with its children inside. */
  OpenGroup = 2,
  Input = 3,
  Output = 4,
  /** A small named stub that stands for a far or widely shared tensor. */
  Stub = 5,
  /** Where a tensor enters or leaves an open group. */
  Port = 6
}

/** Everything to draw, in world units (px at zoom 1). Parents come before their children. */
export interface IScene {
  readonly version: number;
  readonly direction: FlowDirection;
  /** Whether it is in rows, or a part of it is: what stands lower may come later. */
  readonly inRows: boolean;
  readonly width: number;
  readonly height: number;
  readonly boxCount: number;
  readonly boxKind: Uint8Array;
  /** Node or group entity; for Input/Output/Stub/Port the tensor id. */
  readonly boxEntity: Int32Array;
  /** Top left corner and size. */
  readonly boxX: Float64Array;
  readonly boxY: Float64Array;
  readonly boxW: Float64Array;
  readonly boxH: Float64Array;
  readonly boxDepth: Uint8Array;
  /** Enclosing open group's box, -1 = none. */
  readonly boxParent: Int32Array;
  readonly edgeCount: number;
  readonly edgeSource: Int32Array;
  readonly edgeTarget: Int32Array;
  /** A tensor the edge carries (the first, where it carries several; of a series, the one it stands under). */
  readonly edgeTensor: Int32Array;
  /** How many tensors the edge stands for. */
  readonly edgeWeight: Int32Array;
  /**
   * Points of edge e: `edgePoints[2*edgeOffsets[e] … 2*edgeOffsets[e+1])` as x, y pairs from source to
   * target: along the flow, except where an edge closes a cycle and runs back beside its level.
   */
  readonly edgeOffsets: Int32Array;
  readonly edgePoints: Float64Array;
  /** Box of an entity in this scene, or that of its closest visible ancestor; -1 = none. */
  boxOf(entity: number): number;
}

/** Sizes of cards before layout; the viewer supplies text measures. `compact`: of the short form of a card. */
export interface ISizer {
  node(node: number, compact?: boolean): { w: number; h: number };
  group(group: number, compact?: boolean): { w: number; h: number };
  pill(text: string): { w: number; h: number };
  /** How far the title of the open group reaches from the left side of its panel. */
  title(group: number): number;
}

/** Opens and closes groups and lays out what is visible. Calls may run in a worker; the last wins. */
export interface IGraphView {
  readonly tree: ITree;
  readonly scene: IScene;
  readonly direction: FlowDirection;
  readonly flow: Flow;
  /** The rows of the picture; null = everything in one. */
  readonly rows: IRowWidth | null;
  /** Called while a long layout goes on, with the share that is done; the page breathes in between. */
  onProgress: ((share: number) => void) | null;
  isOpen(group: number): boolean;
  /** Lays what is open out one way, in one row. */
  setDirection(direction: FlowDirection): Promise<IScene>;
  /** Lays what is open out anew for a pane. Until the next such call rows stay as wide as they are. */
  setFlow(flow: Flow, pane: IPane): Promise<IScene>;
  /** Takes other numbers for the same boxes; only what no longer fits its card is laid out again. */
  updateNumbers(tree: ITree, sizer: ISizer): Promise<IScene>;
  /**
   * First picture: opens groups, outer ones first, while at most `budget` boxes are visible and the
   * picture is not longer than `length` in the direction it flows.
   */
  openInitial(budget: number, length?: number): Promise<IScene>;
  /** First picture set so: in rows as much as can be read in the pane as a whole. */
  openInitialIn(budget: number, flow: Flow, pane: IPane): Promise<IScene>;
  expand(group: number, recursive?: boolean): Promise<IScene>;
  collapse(group: number, recursive?: boolean): Promise<IScene>;
  expandAll(maxBoxes: number): Promise<IScene>;
  collapseAll(): Promise<IScene>;
  /** Opens every ancestor of the entity and shows it if it was hidden. */
  reveal(entity: number): Promise<IScene>;
  /** Leaves these entities, and no others, out of the picture. */
  setHidden(entities: Iterable<number>): Promise<IScene>;
  /** The hidden entities as few as say it: none lies below another. */
  hidden(): number[];
  /** Open groups, for saving and restoring a view. */
  openGroups(): number[];
  /** `rows`: as they were; absent: as they are. */
  restore(
    open: readonly number[],
    hidden?: readonly number[],
    rows?: IRowWidth | null
  ): Promise<IScene>;
  dispose(): void;
}

/** A device by its id, and the precision it computes in; empty: as the model is stored. */
export interface IDeviceChoice {
  readonly device: string;
  readonly precision: string;
  /** What runs the model there; empty: what the payload was made for. */
  readonly runtime?: string;
}

export interface ILatencyEstimate {
  /** Index into the payload's devices. */
  readonly device: number;
  readonly precision: string;
  /** The kernels and constants of the runtime. */
  readonly part: HardwarePart;
  /** Seconds by node: a kernel's time stands at its anchor, NaN where it is unknown. */
  readonly nodes: Float64Array;
  /** Seconds by kernel, its launch included. */
  readonly kernels: Float64Array;
  /** What its arithmetic and what its bytes alone would take; the longer one bounds it. */
  readonly compute: Float64Array;
  readonly memory: Float64Array;
  /** Sum of the known kernels; NaN when none is known. */
  readonly seconds: number;
  /** The band around it. */
  readonly low: number;
  readonly high: number;
  /** At the device's full rates, without launches; faster only with weights that a cache still holds. */
  readonly ideal: number;
  readonly label: string;
  /** Share of the time in kernels of kinds that were never compared with measured times. */
  readonly uncompared: number;
  /** Kernels without a time. */
  readonly unknown: number;
  /** What the model needs of the device's memory, in bytes; NaN where that is unknown. */
  readonly required: number;
}

/** Tensors that one pill stands for. */
export interface ISeries {
  readonly kind: 'input' | 'output';
  /** The name they share, every number in it a `#`. */
  readonly pattern: string;
  /** In the order of the file. The first one stands for all of them in the picture. */
  readonly members: readonly number[];
}

/** The series of a tensor, for those that are in one. */
export type SeriesByTensor = ReadonlyMap<number, ISeries>;
