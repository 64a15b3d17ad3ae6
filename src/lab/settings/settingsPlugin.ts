import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { LabSettings } from './labSettings';
import { IOnnxSettings } from '../tokens';

/** The schema file of this name defines settings, shortcuts and menu entries. */
const SCHEMA_ID = 'onnx-autodoc:plugin';

/** Reads the user's settings. */
export const settingsPlugin: JupyterFrontEndPlugin<IOnnxSettings> = {
  id: 'onnx-autodoc:settings',
  description: 'Reads and validates the settings of ONNX Autodoc.',
  autoStart: true,
  provides: IOnnxSettings,
  optional: [ISettingRegistry],
  activate: (_, registry: ISettingRegistry | null) => {
    const settings = new LabSettings();
    if (!registry) {
      settings.resolveWithoutSettings();
      return settings;
    }
    registry
      .load(SCHEMA_ID)
      .then(loaded => settings.attach(loaded))
      .catch((error: unknown) => {
        console.error('ONNX Autodoc: settings could not be read', error);
        settings.resolveWithoutSettings();
      });
    return settings;
  }
};
