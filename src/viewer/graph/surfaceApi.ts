/**
 * What the rest of the viewer may know about the drawing surface. Entities and tensors are the ids
 * of `core/types.ts`; the surface never fetches, never lays out and holds no application state.
 */
import type { ITensorRef } from '../../core/tree/tensorSeries';
import type { IScene } from '../../core/types';

/** Centre of the view in world units and the zoom; survives a resize of the host. */
export interface ICamera {
  readonly x: number;
  readonly y: number;
  /** Screen pixels per world unit. */
  readonly k: number;
}

/** How a wire is drawn that is not like the others. */
export interface IWireLook {
  readonly color: string;
  /** Dashes and gaps, in world units. */
  readonly dash: readonly number[];
}

/** A number per entity painted on the graph. */
export interface IOverlay {
  /** 0 … 1 along the ramp; exactly 0 = costs nothing (a quiet card); NaN = unknown (grey). */
  value(entity: number): number;
  /** Fill of the card at a value of 0 … 1, any CSS colour. */
  color(value: number): string;
  /** Text colour that stays readable on `color(value)`. */
  textColor(value: number): string;
  /** Replaces the quiet cost line, e.g. `118 M MACs`; empty = keep the cost line. */
  text?(entity: number): string;
  /** Stands in a corner of the card and tells the state without its colour; empty = none. */
  sign?(entity: number): string;
  /** Drawn as an outline only: it is not there any more. */
  ghost?(entity: number): boolean;
  /** Of an edge of the scene; null = as all others. */
  wire?(edge: number): IWireLook | null;
}

/** What cards show below the title, from zoom 0.8 up. Sizes depend on it: give the sizer the same. */
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

/** What is under the pointer. */
export type IHitTarget =
  { readonly kind: 'entity'; readonly id: number } | ITensorRef | null;

export interface ISurfaceCallbacks {
  /** A click or a keyboard step onto an entity; null = onto nothing (Esc, click on the ground). */
  onSelect(entity: number | null, how: { additive: boolean }): void;
  /** Double-click, chevron or Enter: groups expand or collapse, nodes show their details. */
  onActivate(entity: number, how: { recursive: boolean }): void;
  /** The next (1) or previous (-1) part of a repeat, or all of them (0): a click in its title. */
  onStep?(entity: number, step: 1 | -1 | 0): void;
  /** Cards and nodes in a rectangle that was drawn with Shift. */
  onSelectArea?(entities: readonly number[], how: { additive: boolean }): void;
  /** Esc; false = the key goes on to the host. Absent: as a click on the ground. */
  onEscape?(): boolean;
  /** A click on a wire, an input or output pill, a stub or a port; `activated`: by Enter. */
  onSelectTensor(what: ITensorRef, how: { activated: boolean }): void;
  /** `box`: where it is in the scene, -1 for a wire and for nothing. */
  onHover(what: IHitTarget, box: number): void;
  /** The box that has the ring of the keyboard; -1 = none has it any more. */
  onRing?(box: number): void;
  /** After every change of the camera, at most once a frame. */
  onCameraChange(camera: ICamera): void;
  /** A secondary click or the menu key; client coordinates. */
  onContextMenu(what: IHitTarget, at: { x: number; y: number }): void;
}

/** Every sentence the surface says itself; the host passes translated ones. */
export interface ISurfaceStrings {
  graph: string;
  group: string;
  input: string;
  output: string;
  /** `%1` inputs, or outputs, that one pill stands for. */
  inputs: string;
  outputs: string;
  tensor: string;
  /** Where a tensor comes from, and where it goes: `%1` a node, a model input, so many nodes. */
  from: string;
  to: string;
  expanded: string;
  collapsed: string;
  /** `%1` nodes. */
  nodes: string;
  /** `%1` is what prepares sizes, masks or weights for a box: `sizes · 5`. */
  prepared: string;
  /** `%1` share. */
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
  /** The scene to move from; null or absent = no motion. */
  readonly animateFrom?: IScene | null;
  /** Its box stays where it is on the screen (its top left corner, where the chevron is). */
  readonly anchorEntity?: number;
  /** Only numbers changed: what is in the middle of the view stays there. */
  readonly still?: boolean;
  /** Show all of it, or at a zoom that can be read what was in the middle of the view. */
  readonly readable?: boolean;
  /** Keep the camera as it is (default true when a scene was there before, else the view is fitted). */
  readonly keepCamera?: boolean;
}
