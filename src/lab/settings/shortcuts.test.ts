// @vitest-environment jsdom
import plugin from '../../../schema/plugin.json?raw';
import { CommandRegistry } from '@lumino/commands';
import { describe, expect, it } from 'vitest';
import { ACTIONS } from '../../viewer/actions';
import { isFixedKey, keysOf } from '../../viewer/actions/keyboard';
import { IDENTITY } from '../../viewer';
import type { TranslationBundle } from '@jupyterlab/translation';
import { actionLabels } from '../commands/actionLabels';
import { CommandIDs } from '../commands/commandIds';
import { ShortcutKeys } from './shortcutKeys';

interface IShortcut {
  command: string;
  args: { action: string };
  keys: string[];
  selector: string;
}

const schema = JSON.parse(plugin) as {
  'jupyter.lab.shortcuts': IShortcut[];
};
const shortcuts = schema['jupyter.lab.shortcuts'];

/** `Ctrl+Shift+E` in JupyterLab's notation. */
const labKeys = (chord: string): string =>
  chord.replace(/\+/g, ' ').replace('Ctrl', 'Accel');

function registry(list: readonly IShortcut[]): CommandRegistry {
  const commands = new CommandRegistry();
  for (const shortcut of list) {
    commands.addKeyBinding(shortcut);
  }
  return commands;
}

describe('shortcuts of the settings', () => {
  it('are the keys of the viewer that a host can bind', () => {
    const declared = new Set(
      shortcuts.map(({ args, keys }) => `${args.action}: ${keys.join(',')}`)
    );
    const actionKeys = ACTIONS.flatMap(({ id, keys }) =>
      keys.filter(key => !isFixedKey(key)).map(key => `${id}: ${labKeys(key)}`)
    );
    expect([...declared].sort()).toEqual([...new Set(actionKeys)].sort());
  });

  it('run an action of the viewer, and apply in text boxes only if the action is global', () => {
    const global = new Set(
      ACTIONS.filter(action => action.global).map(({ id }) => id)
    );
    for (const { command, args, selector } of shortcuts) {
      expect(command).toBe(CommandIDs.run);
      expect(
        global.has(args.action) || selector.includes(':not(:read-write)')
      ).toBe(true);
    }
  });

  it('each have a label', () => {
    const labels = actionLabels(IDENTITY as unknown as TranslationBundle);
    for (const { args } of shortcuts) {
      expect(labels[args.action]).toBeTruthy();
    }
  });
});

describe('labels of the palette', () => {
  it('are the texts of the actions, in Title Case', () => {
    const labels = actionLabels(IDENTITY as unknown as TranslationBundle);
    const texts = new Map(
      ACTIONS.map(action => [action.id, action.label(IDENTITY)])
    );
    for (const [id, label] of Object.entries(labels)) {
      expect(label.toLowerCase()).toBe(texts.get(id)?.toLowerCase());
    }
  });
});

describe('ShortcutKeys', () => {
  const find = ACTIONS.find(({ id }) => id === 'find')!;
  const expand = ACTIONS.find(({ id }) => id === 'expand-all')!;

  it('gives the keys of the viewer by default', () => {
    const { bound } = new ShortcutKeys(registry(shortcuts));
    for (const action of ACTIONS) {
      expect([...keysOf(action, bound)].sort()).toEqual(
        [...action.keys].sort()
      );
    }
  });

  it('uses the keys bound by the user', () => {
    const changed = shortcuts
      .filter(({ args }) => args.action !== 'expand-all')
      .map(shortcut =>
        shortcut.args.action === 'find'
          ? { ...shortcut, keys: ['Alt Shift J'] }
          : shortcut
      );
    const { bound } = new ShortcutKeys(registry(changed));
    expect(keysOf(find, bound)).toEqual(['Alt+Shift+J', '/']);
    expect(keysOf(expand, bound)).toEqual([]);
  });

  it('emits changes', () => {
    const commands = registry(shortcuts);
    const keys = new ShortcutKeys(commands);
    let changes = 0;
    keys.changed.connect(() => changes++);
    expect(keysOf(expand, keys.bound)).toEqual(['E']);
    commands.addKeyBinding({
      command: CommandIDs.run,
      args: { action: 'expand-all' },
      keys: ['Shift Q'],
      selector: 'body'
    });
    expect(changes).toBe(1);
    expect(keysOf(expand, keys.bound)).toEqual(['E', 'Shift+Q']);
  });

  it('is null if no keys are bound', () => {
    expect(new ShortcutKeys(new CommandRegistry()).bound).toBeNull();
  });
});
