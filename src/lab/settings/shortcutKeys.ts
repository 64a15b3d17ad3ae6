import type { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import type { BoundKeys } from '../../viewer';
import { CommandIDs } from '../commands/commandIds';

/** Like `Ctrl+Shift+E`, as the viewer writes keys; two chords in a row keep their space. */
function chord(keys: readonly string[]): string {
  return keys
    .map(key => key.replace(/\b(?:Accel|Cmd)\b/g, 'Ctrl').replace(/ /g, '+'))
    .join(' ');
}

/** The keys that users have bound to actions of the viewer, in the viewer's terms. */
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

  /** Null where no shortcut is known, as in an application without them: the viewer's own keys hold. */
  get bound(): BoundKeys {
    return (this._bound ??= this._read());
  }

  private _read(): BoundKeys {
    const bound: Record<string, string[]> = {};
    for (const { command, args, keys } of this._commands.keyBindings) {
      if (command === CommandIDs.run && typeof args.action === 'string') {
        const list = (bound[args.action] ??= []);
        const written = chord(keys);
        // An action may have one key under two selectors.
        if (!list.includes(written)) {
          list.push(written);
        }
      }
    }
    return Object.keys(bound).length > 0 ? bound : null;
  }

  private _bound: BoundKeys | undefined;
}
