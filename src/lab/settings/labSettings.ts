import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { PromiseDelegate } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';
import { FLOWS } from '../../core/types';
import type { IRuleOptions } from '../../providers/analysisStart';
import { SHOWN } from '../../schema/metrics';
import type { IViewerSettings } from '../../viewer';
import { SettingsReader } from './settingsReader';

const OVERLAYS: readonly IViewerSettings['overlay'][] = [
  'auto',
  'none',
  ...SHOWN.heatmap
];

/** Interval at which an open, visible file is checked, in milliseconds. */
export const WATCH_INTERVAL = 4000;

/** The user's settings as viewer settings, kept up to date. */
export class LabSettings {
  readonly changed = new Signal<this, void>(this);
  /** Emitted when the findings would change. */
  readonly rulesChanged = new Signal<this, void>(this);

  /**
   * Resolves when the settings are loaded or known to be missing, so that no view starts with other
   * values.
   */
  get ready(): Promise<void> {
    return this._ready.promise;
  }

  /** Called if there will be no settings. */
  resolveWithoutSettings(): void {
    this._ready.resolve();
  }

  /** Viewer settings; defaults are omitted where the registry has no value. */
  get viewer(): Partial<IViewerSettings> {
    return this._viewer;
  }

  get watchFile(): boolean {
    return this._watchFile;
  }

  /** Options of the rules that produce findings. */
  get rules(): IRuleOptions {
    return this._rules;
  }

  /** Follows a plugin's settings. */
  attach(settings: ISettingRegistry.ISettings): void {
    const read = (): void => {
      const values = new SettingsReader(settings.composite);
      const rules = rulesOf(values);
      const otherRules = JSON.stringify(rules) !== JSON.stringify(this._rules);
      this._rules = rules;
      this._watchFile = values.flag('watchFile', true);
      this._viewer = {
        overlay: values.choice('overlay', OVERLAYS, 'auto'),
        device: values.text('device'),
        precision: values.text('precision'),
        runtime: values.text('runtime'),
        logScale: values.flag('logScale', false),
        boxBudget: values.integer('firstBoxes', 5, 400, 40),
        assumeDims: values.flag('assumeDims', true),
        wheel: values.choice<'pan' | 'zoom'>('wheel', ['pan', 'zoom'], 'pan'),
        minimap: values.flag('minimap', true),
        showNames: values.flag('showNames', false),
        showWeights: values.flag('showWeights', true),
        direction: values.choice('direction', FLOWS, 'auto')
      };
      for (const problem of values.problems) {
        console.warn(`ONNX Autodoc: in the settings, ${problem}`);
      }
      this.changed.emit();
      if (otherRules) {
        this.rulesChanged.emit();
      }
    };
    settings.changed.connect(read);
    read();
    this._ready.resolve();
  }

  private readonly _ready = new PromiseDelegate<void>();
  private _viewer: Partial<IViewerSettings> = {};
  private _watchFile = true;
  private _rules: IRuleOptions = {};
}

/** A threshold file overrides thresholds in the settings; without either, the default rules apply. */
function rulesOf(values: SettingsReader): IRuleOptions {
  const file = values.text('thresholdsFile');
  const thresholds = values.record('thresholds');
  const readWeights = values.flag('readWeights', false);
  return {
    ...(file
      ? { thresholds: file }
      : Object.keys(thresholds).length > 0 && { thresholds }),
    ...(readWeights && { readWeights })
  };
}
