/** Key bindings of the surface, as data. Keys of the whole viewer are defined elsewhere. */
import type { Direction } from '../scene/sceneAdjacency';
import { ownValue } from '../../../core/base/ownValue';

export type KeyCommand =
  | {
      readonly kind: 'step';
      readonly direction: Direction;
      readonly additive: boolean;
    }
  | { readonly kind: 'pan'; readonly direction: Direction }
  | { readonly kind: 'activate'; readonly recursive: boolean }
  | { readonly kind: 'zoom'; readonly factor: number }
  | { readonly kind: 'fit' }
  | { readonly kind: 'actual' }
  | { readonly kind: 'first' }
  | { readonly kind: 'last' }
  | { readonly kind: 'menu' }
  | { readonly kind: 'clear' };

export interface IKey {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

const ZOOM_STEP = 1.25;

const ARROWS: Readonly<Record<string, Direction>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down'
};

/** The command of a key; null if the surface does not handle it and the event must propagate. */
export function commandOf(key: IKey): KeyCommand | null {
  const arrow = ownValue(ARROWS, key.key);
  if (arrow) {
    return key.ctrlKey || key.metaKey
      ? { kind: 'pan', direction: arrow }
      : key.altKey
        ? null
        : { kind: 'step', direction: arrow, additive: key.shiftKey };
  }
  if (key.ctrlKey || key.metaKey) {
    return null;
  }
  switch (key.key) {
    case 'Enter':
      return { kind: 'activate', recursive: key.altKey };
    case ' ':
    case 'f':
      return key.altKey || key.shiftKey ? null : { kind: 'fit' };
    case '+':
    case '=':
      return { kind: 'zoom', factor: ZOOM_STEP };
    case '-':
    case '_':
      return { kind: 'zoom', factor: 1 / ZOOM_STEP };
    case 'Backspace':
      return key.shiftKey ? { kind: 'actual' } : null;
    case 'Home':
      return { kind: 'first' };
    case 'End':
      return { kind: 'last' };
    case 'ContextMenu':
      return { kind: 'menu' };
    case 'F10':
      return key.shiftKey ? { kind: 'menu' } : null;
    case 'Escape':
      return { kind: 'clear' };
    default:
      return null;
  }
}
