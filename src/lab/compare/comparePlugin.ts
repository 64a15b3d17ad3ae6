import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { addCompareCommands } from './compareCommands';
import { LinkRegistry } from './linkRegistry';
import { IOnnxServices, IOnnxTracker } from '../tokens';
import { addVerifyCommands } from '../commands/verifyCommands';

/** Compares two linked models side by side; restores links with the layout. */
export const comparePlugin: JupyterFrontEndPlugin<void> = {
  id: 'onnx-autodoc:compare',
  description: 'Compares ONNX models side by side and verifies them.',
  autoStart: true,
  requires: [IOnnxTracker, IOnnxServices],
  optional: [
    ITranslator,
    IDocumentManager,
    ICommandPalette,
    IFileBrowserFactory
  ],
  activate: (
    app: JupyterFrontEnd,
    tracker: IOnnxTracker,
    services: IOnnxServices,
    translator: ITranslator | null,
    manager: IDocumentManager | null,
    palette: ICommandPalette | null,
    browsers: IFileBrowserFactory | null
  ) => {
    const links = new LinkRegistry(tracker, {
      load: () => services.loadState('#links'),
      save: records => services.saveState('#links', records)
    });
    void links.restore(app.restored);
    const context = {
      app,
      tracker,
      links: links,
      trans: services.trans,
      translator: translator ?? nullTranslator,
      manager,
      palette,
      browsers
    };
    addCompareCommands(context);
    addVerifyCommands(context);
  }
};
