/** An overlay over the boxes of one scene: values of what is visible decide the range of colours. */
import { createScale } from '../../core/scale';
import { BoxKind, type IScene, type ITree } from '../../core/types';
import { formatBytes, formatCount } from '../../core/units';
import type { IOverlay } from '../graph/api';
import type { IRange } from '../state/types';
import { rampOf } from './ramp';
import type { IOverlayDefinition } from './types';

export interface IPainted {
  readonly overlay: IOverlay;
  readonly range: IRange;
}

/** Contrasts show at every level, because only visible boxes count. */
export function paintedOverlay(
  definition: IOverlayDefinition,
  scene: IScene,
  tree: ITree,
  look: { readonly logScale: boolean; readonly dark: boolean }
): IPainted {
  const values = visibleValues(scene, entity => definition.value(tree, entity));
  const scale = createScale(values, look.logScale ? 'log' : 'linear');
  return {
    overlay: {
      value: entity => scale.position(definition.value(tree, entity)),
      ...rampOf(look.dark),
      text: entity => overlayText(definition, definition.value(tree, entity))
    },
    range: {
      min: scale.min,
      max: scale.max,
      unknown: values.filter(value => Number.isNaN(value)).length
    }
  };
}

function visibleValues(
  scene: IScene,
  valueOf: (entity: number) => number
): number[] {
  const values: number[] = [];
  for (let box = 0; box < scene.boxCount; box++) {
    const kind = scene.boxKind[box];
    if (kind === BoxKind.Node || kind === BoxKind.Group) {
      values.push(valueOf(scene.boxEntity[box]));
    }
  }
  return values;
}

/** `118 M MACs`, `3.21 MB`, `—`. */
export function overlayText(
  definition: IOverlayDefinition,
  value: number
): string {
  return definition.unit === 'bytes'
    ? formatBytes(value)
    : formatCount(value, definition.unit);
}
