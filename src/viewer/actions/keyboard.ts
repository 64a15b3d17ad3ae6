/** Maps key events to actions. The only module that knows the notation of keys. */

import type { IAction } from '.';
import type { BoundKeys } from '../state/api';
import { ownValue } from '../../core/base/ownValue';

/**
 * Keys that depend on the keyboard layout, or that have the same meaning in every program: hosts do not
 * bind them.
 */
const FIXED =
  /^(?:\w+\+)*(?:Enter|Space|Escape|Backspace|Page\w+|[^A-Za-z])$|^Ctrl\+C$/;

export const isFixedKey = (chord: string): boolean => FIXED.test(chord);

/** The keys of an action: those bound by the host, then those that no host binds. */
export function keysOf(action: IAction, bound: BoundKeys): readonly string[] {
  return bound
    ? [...(ownValue(bound, action.id) ?? []), ...action.keys.filter(isFixedKey)]
    : action.keys;
}

interface IKeyEvent {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/** `Ctrl+Alt+Shift+Key`; letters in upper case, digits by physical key. */
export function chordOf(event: IKeyEvent): string {
  const digit = /^Digit([0-9])$/.exec(event.code)?.[1];
  const letter = /^[a-z]$/i.test(event.key);
  const key =
    event.key === ' '
      ? 'Space'
      : digit !== undefined && event.shiftKey
        ? digit
        : letter
          ? event.key.toUpperCase()
          : event.key;
  // For a symbol such as `?`, Shift is part of the key.
  const shift = event.shiftKey && (letter || digit || key.length > 1);
  return [
    event.ctrlKey || event.metaKey ? 'Ctrl' : '',
    event.altKey ? 'Alt' : '',
    shift ? 'Shift' : '',
    key
  ]
    .filter(text => text)
    .join('+');
}

function isTextBox(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement &&
      !['checkbox', 'radio', 'button'].includes(target.type)) ||
    (target instanceof HTMLElement && target.isContentEditable)
  );
}

/** True for Enter and Space on a focused button, link or checkbox. */
function isOwnKey(target: EventTarget | null, chord: string): boolean {
  if (!(target instanceof HTMLElement)) {
    return false;
  }
  const pressable = target.closest('button, a, summary, input, [role=tab]');
  return pressable !== null && (chord === 'Enter' || chord === 'Space');
}

/** The action for a key event; null if there is none. */
export function actionFor(
  actions: readonly IAction[],
  event: IKeyEvent & { readonly target: EventTarget | null },
  bound: BoundKeys = null
): IAction | null {
  const chord = chordOf(event);
  if (isOwnKey(event.target, chord)) {
    return null;
  }
  const typing = isTextBox(event.target);
  return (
    actions.find(
      action =>
        keysOf(action, bound).includes(chord) &&
        // In a text box, a plain character is input.
        (!typing || (action.global === true && chord.length > 1))
    ) ?? null
  );
}
