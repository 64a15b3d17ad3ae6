import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { Signal } from '@lumino/signaling';
import { afterEach, describe, expect, it, vi } from 'vitest';
import plugin from '../../../schema/plugin.json?raw';
import { DEFAULT_SETTINGS } from '../../viewer';
import { LabSettings } from './labSettings';

interface IProperty {
  default: unknown;
}

const { properties } = JSON.parse(plugin) as {
  properties: Record<string, IProperty>;
};
const defaults = Object.fromEntries(
  Object.entries(properties).map(([key, property]) => [key, property.default])
);

const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
afterEach(() => warn.mockClear());

function attached(composite: object): LabSettings {
  const settings = new LabSettings();
  const source = { composite, changed: new Signal<object, void>({}) };
  settings.attach(source as unknown as ISettingRegistry.ISettings);
  return settings;
}

describe('LabSettings', () => {
  it('has the defaults of the schema, which equal those of the viewer', () => {
    expect(attached({}).viewer).toEqual(attached(defaults).viewer);
    expect(attached(defaults).viewer).toEqual(DEFAULT_SETTINGS);
    expect(attached(defaults).watchFile).toBe(true);
    expect(attached(defaults).rules).toEqual({});
    expect(warn).not.toHaveBeenCalled();
  });

  it('accepts valid values', () => {
    const { viewer, rules, watchFile } = attached({
      ...defaults,
      overlay: 'latency',
      device: ' l4 ',
      firstBoxes: 80,
      wheel: 'zoom',
      direction: 'wrapped',
      watchFile: false,
      thresholds: { floor: 'low' },
      readWeights: true
    });
    expect(viewer).toMatchObject({
      overlay: 'latency',
      device: 'l4',
      boxBudget: 80,
      wheel: 'zoom',
      direction: 'wrapped'
    });
    expect(watchFile).toBe(false);
    expect(rules).toEqual({ thresholds: { floor: 'low' }, readWeights: true });
    expect(warn).not.toHaveBeenCalled();
  });

  it('prefers a threshold file to thresholds', () => {
    const thresholds = {
      thresholdsFile: 'a.toml',
      thresholds: { floor: 'low' }
    };
    expect(attached(thresholds).rules).toEqual({ thresholds: 'a.toml' });
  });

  it.each([
    ['overlay', 'heat'],
    ['overlay', 7],
    ['device', null],
    ['firstBoxes', 4],
    ['firstBoxes', '40'],
    ['firstBoxes', 1e9],
    ['firstBoxes', 12.5],
    ['assumeDims', 'yes'],
    ['wheel', 'spin'],
    ['direction', ['right']],
    ['thresholds', []],
    ['thresholds', null],
    ['readWeights', 1],
    ['watchFile', 0]
  ])('replaces %s = %j by the default, with a warning', (key, value) => {
    const settings = attached({ ...defaults, [key]: value });
    expect(settings.viewer).toEqual(DEFAULT_SETTINGS);
    expect(settings.rules).toEqual({});
    expect(settings.watchFile).toBe(true);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0][0]).toContain(key);
  });
});
