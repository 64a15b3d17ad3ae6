import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IThemeManager } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONValue } from '@lumino/coreutils';
import { CommandIDs } from './commands/commandIds';
import { chooseModels } from './commands/modelCommands';
import { FACTORY_NAME } from './documentModel';
import { ShortcutKeys } from './settings/shortcutKeys';
import { InitialViewLink } from './viewAddress';
import { IOnnxServices, IOnnxSettings } from './tokens';
import { viewerTranslator } from './viewerTranslator';

/** Connects views to JupyterLab. */
export const servicesPlugin: JupyterFrontEndPlugin<IOnnxServices> = {
  id: 'onnx-autodoc:services',
  description: 'Connects views of ONNX models to JupyterLab.',
  autoStart: true,
  provides: IOnnxServices,
  requires: [IOnnxSettings],
  optional: [
    ITranslator,
    IThemeManager,
    IStateDB,
    IFileBrowserFactory,
    IDocumentManager
  ],
  activate: (
    app: JupyterFrontEnd,
    settings: IOnnxSettings,
    translator: ITranslator | null,
    themes: IThemeManager | null,
    stateDB: IStateDB | null,
    browsers: IFileBrowserFactory | null,
    manager: IDocumentManager | null
  ) => {
    const { commands } = app;
    const trans = (translator ?? nullTranslator).load('onnx_autodoc');
    // Read early: Lab writes its own address before the document exists.
    const link = new InitialViewLink();
    // Not in the tracker's namespace: restoring drops unknown entries there.
    const stateKey = (key: string): string => `onnx-autodoc-view:${key}`;
    return {
      serverSettings: app.serviceManager.serverSettings,
      trans,
      translate: viewerTranslator(trans),
      settings,
      keys: new ShortcutKeys(commands),
      theme: () => themes?.theme ?? '',
      themeChanged: themes?.themeChanged ?? null,
      files: {
        added: () => void browsers?.tracker.currentWidget?.model.refresh(),
        open: path =>
          void commands.execute('docmanager:open', {
            path,
            factory: FACTORY_NAME
          }),
        get compare() {
          // Users can disable the plugin that provides the command.
          return commands.hasCommand(CommandIDs.compareWith)
            ? (path: string) =>
                void commands.execute(CommandIDs.compareWith, { path })
            : undefined;
        },
        get verify() {
          return commands.hasCommand(CommandIDs.verify)
            ? (path: string, against: string, data: string) =>
                void commands.execute(CommandIDs.verify, {
                  path,
                  against,
                  data
                })
            : undefined;
        },
        ...(manager && {
          choose: async (title: string, extensions: readonly string[]) => {
            const selected = await chooseModels(
              manager,
              translator ?? nullTranslator,
              trans,
              title,
              extensions
            );
            return selected[0] ?? null;
          }
        })
      },
      takeLink: path => link.consume(path),
      loadState: key => stateDB?.fetch(stateKey(key)) ?? Promise.resolve(null),
      saveState: (key, state) => {
        stateDB
          ?.save(stateKey(key), state as ReadonlyPartialJSONValue)
          .catch((error: unknown) =>
            console.warn('ONNX Autodoc: the view was not saved', error)
          );
      }
    };
  }
};
