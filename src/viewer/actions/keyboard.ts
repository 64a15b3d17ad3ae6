/** From key events to actions. The only place that knows how keys are written. */

import type { IAction } from '.';
import type { BoundKeys } from '../state/api';

/** Keys whose place depends on the keyboard's layout, or that mean the same in every program: hosts do not bind them. */
const FIXED =
  /^(?:\w+\+)*(?:Enter|Space|Escape|Backspace|Page\w+|[^A-Za-z])$|^Ctrl\+C$/;

export const isFixedKey = (chord: string): boolean => FIXED.test(chord);

/** The keys of an action: what the host has bound, then what no host binds. */
export function keysOf(action: IAction, bound: BoundKeys): readonly string[] {
  return bound
    ? [...(bound[action.id] ?? []), ...action.keys.filter(isFixedKey)]
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

/** `Ctrl+Alt+Shift+Key`; letters upper case, digits by their place on the keyboard. */
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
  // Shift is part of what a symbol such as `?` is.
  const shift = event.shiftKey && (letter || digit || key.length > 1);
  return [
    event.ctrlKey || event.metaKey ? 'Ctrl' : '',
    event.altKey ? 'Alt' : '',
    shift ? 'Shift' : '',
    key
  ]
    .filter(part => part)
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

/** Enter and Space belong to the button, link or box to tick that has the focus. */
function isOwnKey(target: EventTarget | null, chord: string): boolean {
  if (!(target instanceof HTMLElement)) {
    return false;
  }
  const pressable = target.closest('button, a, summary, input, [role=tab]');
  return pressable !== null && (chord === 'Enter' || chord === 'Space');
}

/** The action that this key event asks for, null when it is not ours. */
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
        // In a text box a plain character is text.
        (!typing || (action.global === true && chord.length > 1))
    ) ?? null
  );
}
