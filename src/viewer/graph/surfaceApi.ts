/**
 * Interface of the drawing surface for the rest of the viewer. Entities and tensors are ids of
 * `core/types.ts`; the surface never fetches data, never lays out and holds no application state.
 */
import type { ITensorRef } from '../../core/tree/tensorSeries';
import type { IScene } from '../../core/types';

/** Centre of the view in world units, and the zoom; unchanged by a resize of the host. */
export interface ICamera {
  readonly x: number;
  readonly y: number;
  /** Screen pixels per world unit. */
  readonly k: number;
}

/** Style of a wire that differs from the others. */
export interface IWireLook {
  readonly color: string;
  /** Dashes and gaps, in world units. */
  readonly dash: readonly number[];
}

/** A value per entity, shown as a colour. */
export interface IOverlay {
  /** 0 … 1 along the ramp; exactly 0 means no cost (a plain card), NaN unknown (grey). */
  value(entity: number): number;
  /** Fill of the card for a value of 0 … 1, any CSS colour. */
  color(value: number): string;
  /** A readable text colour on `color(value)`. */
  textColor(value: number): string;
  /** Replaces the cost line, e.g. with `118 M MACs`; if empty, the cost line stays. */
  text?(entity: number): string;
  /** Sign in a corner of the card that shows the state without relying on colour; empty for none. */
  sign?(entity: number): string;
  /** True to draw only an outline, for something that was removed. */
  ghost?(entity: number): boolean;
  /** Style of an edge of the scene; null for the default. */
  wire?(edge: number): IWireLook | null;
}

/**
 * Contents of cards below the title, from zoom 0.8 up. Card sizes depend on them: pass the same to the
 * sizer.
 */
export interface ICardDetails {
  /** Shapes of the weights, `W 64×3×7×7`. */
  readonly weights: boolean;
  /** The node's own name under its operator type. */
  readonly names: boolean;
  /** `118 M MACs · 9.4 K params`. */
  readonly costs: boolean;
}

export const DEFAULT_DETAILS: ICardDetails = {
  weights: true,
  names: false,
  costs: true
};

/** The target under the pointer. */
export type IHitTarget =
  { readonly kind: 'entity'; readonly id: number } | ITensorRef | null;

export interface ISurfaceCallbacks {
  /** A click or a keyboard step on an entity; null on none (Esc, click on the background). */
  onSelect(entity: number | null, options: { additive: boolean }): void;
  /** Double-click, chevron or Enter: expands or collapses groups, shows the details of nodes. */
  onActivate(entity: number, options: { recursive: boolean }): void;
  /** A click in the title of a repeat: next (1) or previous (-1) instance, or all of them (0). */
  onStep?(entity: number, step: 1 | -1 | 0): void;
  /** Nodes and groups in a rectangle drawn with Shift. */
  onSelectArea?(
    entities: readonly number[],
    options: { additive: boolean }
  ): void;
  /**
   * Esc; returns false if the key should propagate to the host. If absent, Esc acts like a click on the
   * background.
   */
  onEscape?(): boolean;
  /** A click on a wire, an input or output pill, a connector or a port; `activated` by Enter. */
  onSelectTensor(ref: ITensorRef, options: { activated: boolean }): void;
  /** `box` is its box in the scene, -1 for a wire or nothing. */
  onHover(target: IHitTarget, box: number): void;
  /** The box with the keyboard's focus ring; -1 if there is none. */
  onRing?(box: number): void;
  /** After every camera change, at most once per frame. */
  onCameraChange(camera: ICamera): void;
  /** A secondary click or the menu key; in client coordinates. */
  onContextMenu(target: IHitTarget, point: { x: number; y: number }): void;
}

/** All sentences of the surface; the host passes translated ones. */
export interface ISurfaceStrings {
  graph: string;
  group: string;
  input: string;
  output: string;
  /** `%1`: number of inputs, or outputs, of a pill. */
  inputs: string;
  outputs: string;
  tensor: string;
  /** Source and destination of a tensor; `%1` is a node, a model input, or a number of nodes. */
  from: string;
  to: string;
  expanded: string;
  collapsed: string;
  /** `%1`: number of nodes. */
  nodes: string;
  /** `%1`: a group that prepares sizes, masks or weights for a box, such as `sizes · 5`. */
  prepared: string;
  /** `%1`: the share. */
  share: string;
  unknown: string;
  overview: string;
  zoom: string;
}

export const DEFAULT_STRINGS: ISurfaceStrings = {
  graph: 'Model graph',
  group: 'group',
  input: 'Input',
  output: 'Output',
  inputs: '%1 inputs',
  outputs: '%1 outputs',
  tensor: 'Tensor',
  from: 'from %1',
  to: 'to %1',
  expanded: 'expanded',
  collapsed: 'collapsed',
  nodes: '%1 nodes',
  prepared: 'prepared by %1',
  share: '%1 of MACs',
  unknown: 'unknown',
  overview: 'Overview',
  zoom: 'Zoom'
};

export interface ISetSceneOptions {
  /** The scene to animate from; null or absent for no animation. */
  readonly animateFrom?: IScene | null;
  /** Entity whose box stays in place on the screen (its top left corner, with the chevron). */
  readonly anchorEntity?: number;
  /** Only numbers changed: the middle of the view stays in place. */
  readonly keepsCenter?: boolean;
  /** Show the whole graph, or the previous middle of the view, at a readable zoom. */
  readonly readable?: boolean;
  /** Keep the camera (default true if there was a scene before; otherwise the view is fitted). */
  readonly keepCamera?: boolean;
}
