import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { PromiseDelegate } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';
import { FLOWS } from '../core/types';
import type { IRuleOptions } from '../providers/start';
import type { IViewerSettings } from '../viewer';

/** How often an open, visible file is looked at, in milliseconds. */
export const WATCH_INTERVAL = 4000;

/** The user's settings in the viewer's terms, kept up to date. */
export class LabSettings {
  readonly changed = new Signal<this, void>(this);
  /** The findings would be others now. */
  readonly rulesChanged = new Signal<this, void>(this);

  /** Resolves when the settings are known, or known to be missing: no view starts with others before. */
  get ready(): Promise<void> {
    return this._ready.promise;
  }

  /** There will be no settings. */
  giveUp(): void {
    this._ready.resolve();
  }

  /** Defaults of the viewer where the registry says nothing. */
  get viewer(): Partial<IViewerSettings> {
    return this._viewer;
  }

  get watchFile(): boolean {
    return this._watchFile;
  }

  /** How findings are made. */
  get rules(): IRuleOptions {
    return this._rules;
  }

  /** Follows a plugin's settings from now on. */
  attach(settings: ISettingRegistry.ISettings): void {
    const read = (): void => {
      const values = settings.composite;
      const rules = rulesOf(values);
      const otherRules = JSON.stringify(rules) !== JSON.stringify(this._rules);
      this._rules = rules;
      this._watchFile = values.watchFile !== false;
      this._viewer = {
        overlay: values.overlay as IViewerSettings['overlay'],
        device: textOf(values.device),
        precision: textOf(values.precision),
        runtime: textOf(values.runtime),
        logScale: values.logScale === true,
        boxBudget: values.firstBoxes as number,
        assumeDims: values.assumeDims !== false,
        wheel: values.wheel === 'zoom' ? 'zoom' : 'pan',
        minimap: values.minimap !== false,
        showNames: values.showNames === true,
        showWeights: values.showWeights !== false,
        direction: FLOWS.find(flow => flow === values.direction) ?? 'auto'
      };
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

/** A text without the blanks around it; empty for what is none. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

/** A threshold file wins over thresholds in the settings; neither: the rules as they come. */
function rulesOf(
  values: ISettingRegistry.ISettings['composite']
): IRuleOptions {
  const { thresholdsFile, thresholds, readWeights } = values;
  const file = textOf(thresholdsFile);
  const own = thresholds as Record<string, unknown> | undefined;
  return {
    ...(file
      ? { thresholds: file }
      : own && Object.keys(own).length > 0 && { thresholds: own }),
    ...(readWeights === true && { readWeights: true })
  };
}
