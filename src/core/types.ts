/**
 * Types shared by the core and the viewer. The core uses neither React nor the DOM.
 *
 * Entities are ints: `0 … nodeCount-1` are nodes, `nodeCount … nodeCount+groupCount-1` are groups (entity
 * = nodeCount + group). Boxes are indices into a scene and change with every scene.
 */

import type { DeviceMetric, StoredMetric } from '../schema/metrics';
import type { GraphPayload, HardwarePart } from '../schema';

/** Whether a node runs as often as the payload says, and if not, why. */
export const NODE_RUNS = {
  known: 0,
  /** In a loop of unknown length: costs are those of one iteration. */
  unbounded: 1,
  /** In a branch of an If that the totals exclude. */
  excluded: 2
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
  /** The estimate behind `metrics.latency`; null if no device is chosen. */
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
  /** `1×64×56×56`, `batch×768`; `?` if unknown. */
  shapeText(tensor: number): string;
  dtypeText(tensor: number): string;
}

/** Metrics of a node: columns of the payload, and the latency on the chosen device. */
export type MetricId = PayloadMetric | DeviceMetric;

export type PayloadMetric = StoredMetric;

/** The tree of boxes. Group 0 … groupCount-1; `children[0]` belongs to the root, `children[g+1]` to group g. */
export interface ITree {
  readonly model: IGraphModel;
  readonly groupCount: number;
  readonly groupParent: Int32Array;
  readonly groupLabel: readonly string[];
  /** Class name; may be empty. */
  readonly groupType: readonly string[];
  /**
   * Role of a group without an informative class, inferred from its operators; may be empty. Shown in
   * place of the class.
   */
  readonly groupRole: readonly string[];
  /** Nodes below, Constant nodes excluded. */
  readonly groupSize: Int32Array;
  readonly groupDepth: Int32Array;
  /** 1 for the box around the instances of a repeat. */
  readonly groupIsRepeat: Uint8Array;
  /** 1 for a box of nodes that only prepare sizes or weights, with or without the node that uses them. */
  readonly groupIsPreparation: Uint8Array;
  /**
   * The node that such a box prepares inputs for; -1 if several nodes read it, and for all other groups.
   */
  readonly groupMain: Int32Array;
  /**
   * Preparing groups by reader, a node or group (entity): they are drawn as chips on its card while both
   * are collapsed.
   */
  readonly groupChips: ReadonlyMap<number, readonly number[]>;
  /** Group of each node; -1 is the root. */
  readonly nodeParent: Int32Array;
  /** Entities of each level, ordered by first node. */
  readonly children: readonly Int32Array[];
  /** Sums over the nodes below; unknown values are not included but counted in `groupUnknown`. */
  readonly groupMetrics: Readonly<Record<MetricId, Float64Array>>;
  readonly groupUnknown: Readonly<Record<MetricId, Int32Array>>;
  /** Model inputs and outputs that are drawn as one pill, by tensor. */
  readonly series: SeriesByTensor;
  /** Path of labels from the root to the entity's parent group. */
  path(entity: number): string[];
}

/** Direction of the data flow: left to right, or top to bottom. */
export type FlowDirection = 'right' | 'down';

/**
 * Arrangement of the graph. `wrapped`: left to right in rows, like text. `auto`: in one row or several,
 * whichever shows more in the pane.
 */
export type Flow = 'auto' | FlowDirection | 'wrapped';

export const FLOWS: readonly Flow[] = ['auto', 'right', 'down', 'wrapped'];

/** Size of the visible area, in screen pixels. */
export interface IPane {
  readonly w: number;
  readonly h: number;
}

/** Width of the rows of a wrapped layout. */
export interface IRowWidth {
  /** Row width, px at zoom 1. */
  readonly room: number;
  /** Share of a row that may lie next to an open group that is itself wrapped. */
  readonly beside: number;
  /** True for compact cards, if the graph with full cards would not fit its pane. */
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
  /** A small named connector that replaces a long or widely shared edge. */
  Stub = 5,
  /** Where a tensor enters or leaves an open group. */
  Port = 6
}

/** Everything to draw, in world units (px at zoom 1). Parents come before their children. */
export interface IScene {
  readonly version: number;
  readonly direction: FlowDirection;
  /**
   * True if the graph, or a part of it, is in rows: boxes further down may then come later in the flow.
   */
  readonly inRows: boolean;
  readonly width: number;
  readonly height: number;
  readonly boxCount: number;
  readonly boxKind: Uint8Array;
  /** Node or group entity; for Input, Output, Stub and Port, the tensor id. */
  readonly boxEntity: Int32Array;
  /** Top left corner and size. */
  readonly boxX: Float64Array;
  readonly boxY: Float64Array;
  readonly boxW: Float64Array;
  readonly boxH: Float64Array;
  readonly boxDepth: Uint8Array;
  /** Box of the enclosing open group; -1 if none. */
  readonly boxParent: Int32Array;
  readonly edgeCount: number;
  readonly edgeSource: Int32Array;
  readonly edgeTarget: Int32Array;
  /** A tensor that the edge carries: the first of several; for a series, its representative. */
  readonly edgeTensor: Int32Array;
  /** Number of tensors that the edge stands for. */
  readonly edgeWeight: Int32Array;
  /**
   * Points of edge e: `edgePoints[2*edgeOffsets[e] … 2*edgeOffsets[e+1])` as x, y pairs from source to
   * target. They follow the flow, except that an edge which closes a cycle runs back along its level.
   */
  readonly edgeOffsets: Int32Array;
  readonly edgePoints: Float64Array;
  /** Box of an entity in this scene, or of its closest visible ancestor; -1 if none. */
  boxOf(entity: number): number;
}

/**
 * Sizes of cards before layout; the viewer supplies text measures. `compact` asks for the short form of a
 * card.
 */
export interface ISizer {
  node(node: number, compact?: boolean): { w: number; h: number };
  group(group: number, compact?: boolean): { w: number; h: number };
  pill(text: string): { w: number; h: number };
  /** Right end of the open group's title, measured from the left side of its panel. */
  title(group: number): number;
}

/**
 * Opens and closes groups and lays out the visible ones. Calls may run in a worker; the last one wins.
 */
export interface IGraphView {
  readonly tree: ITree;
  readonly scene: IScene;
  readonly direction: FlowDirection;
  readonly flow: Flow;
  /** The rows of the layout; null for a single row. */
  readonly rows: IRowWidth | null;
  /**
   * Called during a long layout with the share that is done; the layout yields to the event loop in
   * between.
   */
  onProgress: ((share: number) => void) | null;
  isOpen(group: number): boolean;
  /** Lays out the open groups in one direction, in one row. */
  setDirection(direction: FlowDirection): Promise<IScene>;
  /** Lays out the open groups for a pane. Rows keep their width until the next such call. */
  setFlow(flow: Flow, pane: IPane): Promise<IScene>;
  /** Replaces the numbers of the same boxes; only levels whose cards no longer fit are laid out again. */
  updateNumbers(tree: ITree, sizer: ISizer): Promise<IScene>;
  /**
   * Initial view: opens groups, outer ones first, as long as at most `budget` boxes are visible and the
   * graph is not longer than `length` along the flow.
   */
  openInitial(budget: number, length?: number): Promise<IScene>;
  /** Initial view in the given arrangement; in rows, it opens as much as is readable in the pane. */
  openInitialIn(budget: number, flow: Flow, pane: IPane): Promise<IScene>;
  expand(group: number, recursive?: boolean): Promise<IScene>;
  collapse(group: number, recursive?: boolean): Promise<IScene>;
  expandAll(maxBoxes: number): Promise<IScene>;
  collapseAll(): Promise<IScene>;
  /** Opens every ancestor of the entity and unhides the entity. */
  reveal(entity: number): Promise<IScene>;
  /** Hides exactly these entities. */
  setHidden(entities: Iterable<number>): Promise<IScene>;
  /** The hidden entities, reduced to the fewest: none lies below another. */
  hidden(): number[];
  /** Open groups, for saving and restoring a view. */
  openGroups(): number[];
  /** `rows` restores the rows; if absent, they stay as they are. */
  restore(
    open: readonly number[],
    hidden?: readonly number[],
    rows?: IRowWidth | null
  ): Promise<IScene>;
  dispose(): void;
}

/** A device by id, and the precision to compute in; empty means as stored. */
export interface IDeviceChoice {
  readonly device: string;
  readonly precision: string;
  /** The runtime; empty means the one that the payload was computed for. */
  readonly runtime?: string;
}

export interface ILatencyEstimate {
  /** Index into the payload's devices. */
  readonly device: number;
  readonly precision: string;
  /** The kernels and constants of the runtime. */
  readonly part: HardwarePart;
  /** Seconds by node: a kernel's time is assigned to its anchor; NaN if unknown. */
  readonly nodes: Float64Array;
  /** Seconds by kernel, including its launch. */
  readonly kernels: Float64Array;
  /** Time of its arithmetic alone and of its data movement alone; the longer one is its bound. */
  readonly compute: Float64Array;
  readonly memory: Float64Array;
  /** Sum of the known kernels; NaN when none is known. */
  readonly seconds: number;
  /** Limits of its error band. */
  readonly low: number;
  readonly high: number;
  /** At the device's full rates, without launches; only weights still held in a cache can be faster. */
  readonly ideal: number;
  readonly label: string;
  /** Share of the time in kernels of kinds that were never compared with measured times. */
  readonly uncompared: number;
  /** Kernels without a time. */
  readonly unknown: number;
  /** Device memory that the model needs, in bytes; NaN if unknown. */
  readonly required: number;
}

/** Tensors drawn as one pill. */
export interface ISeries {
  readonly kind: 'input' | 'output';
  /** Their common name, with every number replaced by `#`. */
  readonly pattern: string;
  /** In file order. The first one represents them in the graph. */
  readonly members: readonly number[];
}

/** The series of each tensor that belongs to one. */
export type SeriesByTensor = ReadonlyMap<number, ISeries>;
