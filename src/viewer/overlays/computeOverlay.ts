/**
 * Computes an overlay for the boxes of a scene; the values of visible boxes determine the colour range.
 */
import { readableTextColor } from '../../core/base/colorScale';
import { createScale, histogram } from '../../core/base/colorScale';
import type { ISpan, ScaleMode } from '../../core/base/colorScale';
import { BoxKind, type IScene, type ITree } from '../../core/types';
import {
  formatBytes,
  formatCount,
  formatSeconds
} from '../../core/base/numberFormat';
import type { IOverlay } from '../graph/surfaceApi';
import { lacksParts } from './metricOf';
import { rampOf } from './heatmapRamp';
import type { IOverlayDefinition, IOverlayRange, IStates } from './types';

export interface IComputedOverlay {
  readonly overlay: IOverlay;
  readonly range: IOverlayRange;
}

export interface IColorOptions {
  readonly scale: ScaleMode;
  readonly dark: boolean;
  /** Limits the colours to these values; cards outside are plain. */
  readonly brush?: ISpan | null;
  /** Values that are not in the graph but count for the range. */
  readonly extraValues?: readonly number[];
  /** Entities whose values determine the range; the visible boxes if absent or without a known value. */
  readonly rangeOf?: readonly number[] | null;
}

/** Bars of the legend's histogram. */
const BINS = 24;
/** Number of top boxes that are listed. */
const MAX_NAMED = 10;
/** The start of the ramp means zero, so the smallest cost lies slightly above it. */
const MIN_POSITION = 0.02;

/**
 * The values of the boxes in `look.over` determine the range: as long as it is kept, a colour means the
 * same number.
 */
export function computeOverlay(
  definition: IOverlayDefinition,
  scene: IScene,
  tree: ITree,
  look: IColorOptions
): IComputedOverlay {
  const states = definition.states?.(tree);
  if (states) {
    return computeStates(states, scene, look);
  }
  const entities = visibleEntities(scene);
  const values = entities.map(entity => definition.value(tree, entity));
  const scaleValues = look.rangeOf?.map(entity =>
    definition.value(tree, entity)
  );
  const isKnown = scaleValues?.some(value => Number.isFinite(value));
  const deciding = scaleValues && isKnown ? scaleValues : values;
  const isKept =
    deciding !== values && look.rangeOf?.join() !== entities.join();
  const counted = look.extraValues?.length
    ? [...deciding, ...look.extraValues]
    : deciding;
  const fullScale = createScale(counted, look.scale);
  const brush = look.brush ?? null;
  const scale = brush ? createScale(counted, look.scale, brush) : fullScale;
  const position = (value: number): number => {
    if (value === 0 || (brush && (value < brush.low || value > brush.high))) {
      return 0;
    }
    const position = scale.position(value);
    return value > 0 ? Math.max(MIN_POSITION, position) : position;
  };
  const heaviest = entities
    .map((entity, i) => ({ entity, value: values[i] }))
    .filter(({ value }) => value > 0)
    .sort((a, b) => b.value - a.value || a.entity - b.entity)
    .slice(0, MAX_NAMED);
  return {
    overlay: {
      value: entity => position(definition.value(tree, entity)),
      ...rampOf(look.dark, definition.ramp),
      text: entity => entityText(definition, tree, entity)
    },
    range: {
      min: scale.min,
      max: scale.max,
      low: scale.value(0),
      unknown: values.filter(value => Number.isNaN(value)).length,
      fullScale,
      bins: [...histogram(fullScale, values, BINS)],
      heaviest,
      values: deciding.filter(value => Number.isFinite(value)),
      isKept
    }
  };
}

/** Colours of states do not depend on what is visible. */
function computeStates(
  states: IStates,
  scene: IScene,
  { dark }: IColorOptions
): IComputedOverlay {
  return {
    overlay: {
      value: entity => states.value(entity),
      color: position => states.color(position, dark),
      textColor: position => readableTextColor(states.color(position, dark)),
      text: entity => states.text(entity),
      sign: entity => states.sign(entity),
      ghost: entity => states.ghost(entity),
      wire: states.wires?.(scene, dark)
    },
    range: {
      min: Number.NaN,
      max: Number.NaN,
      low: Number.NaN,
      fullScale: createScale([], 'linear'),
      bins: [],
      heaviest: [],
      unknown: 0,
      values: [],
      isKept: false
    }
  };
}

/** Nodes and collapsed groups. */
export function visibleEntities(scene: IScene): number[] {
  const entities: number[] = [];
  for (let box = 0; box < scene.boxCount; box++) {
    const kind = scene.boxKind[box];
    if (kind === BoxKind.Node || kind === BoxKind.Group) {
      entities.push(scene.boxEntity[box]);
    }
  }
  return entities;
}

/** The value of a node or group; `≥` marks an incomplete sum. */
export function entityText(
  definition: IOverlayDefinition,
  tree: ITree,
  entity: number
): string {
  const states = definition.states?.(tree);
  if (states) {
    return states.text(entity);
  }
  const value = definition.value(tree, entity);
  const least = value >= 0 && lacksParts(tree, definition.id, entity);
  return (least ? '≥ ' : '') + overlayText(definition, value);
}

/** `118 M MACs`, `3.21 MB`, `1.28 ms`, `—`. */
export function overlayText(
  definition: IOverlayDefinition,
  value: number
): string {
  switch (definition.unit) {
    case 'bytes':
      return formatBytes(value);
    case 's':
      return formatSeconds(value);
    case '':
      // Values from a host: an error of 0.0054 must not be shown as 0.01.
      return Math.abs(value) < 1 && value !== 0
        ? String(Number(value.toPrecision(3)))
        : formatCount(value);
    default:
      return formatCount(value, definition.unit);
  }
}
