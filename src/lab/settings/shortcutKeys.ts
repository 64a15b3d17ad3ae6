import type { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import type { BoundKeys } from '../../viewer';
import { CommandIDs } from '../commands/commandIds';

/** Such as `Ctrl+Shift+E`, in the viewer's notation; successive chords are separated by spaces. */
function chord(keys: readonly string[]): string {
  return keys
    .map(key => key.replace(/\b(?:Accel|Cmd)\b/g, 'Ctrl').replace(/ /g, '+'))
    .join(' ');
}

/** Keys that users have bound to the viewer's actions, in the viewer's notation. */
export class ShortcutKeys {
  constructor(private readonly _commands: CommandRegistry) {
    _commands.keyBindingChanged.connect((_, { binding }) => {
      if (binding.command === CommandIDs.run) {
        this._bound = undefined;
        this.changed.emit();
      }
    });
  }

  readonly changed = new Signal<this, void>(this);

  /** Null if there are no shortcuts, as in an application without them: the viewer's own keys apply. */
  get bound(): BoundKeys {
    return (this._bound ??= this._read());
  }

  private _read(): BoundKeys {
    const bound = new Map<string, string[]>();
    for (const { command, args, keys } of this._commands.keyBindings) {
      if (command === CommandIDs.run && typeof args.action === 'string') {
        const list = bound.get(args.action) ?? [];
        bound.set(args.action, list);
        const chordKeys = chord(keys);
        // An action may have the same key under two selectors.
        if (!list.includes(chordKeys)) {
          list.push(chordKeys);
        }
      }
    }
    return bound.size > 0 ? Object.fromEntries(bound) : null;
  }

  private _bound: BoundKeys | undefined;
}
