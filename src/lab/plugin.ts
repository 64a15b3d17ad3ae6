import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import {
  ICommandPalette,
  IThemeManager,
  WidgetTracker
} from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { ILauncher } from '@jupyterlab/launcher';
import { IDefaultDrive, type Contents } from '@jupyterlab/services';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONValue } from '@lumino/coreutils';
import { addCommands } from './commands';
import { addCompareCommands } from './compareCommands';
import { LinkKeeper } from './compareLinks';
import {
  FACTORY_NAME,
  MODEL_NAME,
  ONNX_FILE_TYPE,
  ORT_FILE_TYPE,
  OnnxModelFactory,
  PROVIDER_ID,
  metadataProvider
} from './document';
import { onnxIcon } from './icon';
import { StartLink } from './link';
import { OutputExtension } from './outputs';
import { LabSettings } from './settings';
import { viewerTranslator } from './translate';
import {
  OnnxWidgetFactory,
  type IOnnxServices,
  type OnnxDocument
} from './widget';

const PLUGIN_ID = 'onnx-autodoc:plugin';
/** JupyterLab's and Notebook's name for what shows notebooks. */
const NOTEBOOK = 'Notebook';

/** Opens ONNX models as documents. */
export const plugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN_ID,
  description: 'Opens ONNX models: graph, costs, per-layer table.',
  autoStart: true,
  requires: [IDefaultDrive],
  optional: [
    ILayoutRestorer,
    ISettingRegistry,
    ITranslator,
    IThemeManager,
    IStateDB,
    IDocumentManager,
    ICommandPalette,
    ILauncher,
    IFileBrowserFactory
  ],
  activate: (
    app: JupyterFrontEnd,
    drive: Contents.IDrive,
    restorer: ILayoutRestorer | null,
    registry: ISettingRegistry | null,
    translator: ITranslator | null,
    themes: IThemeManager | null,
    stateDB: IStateDB | null,
    manager: IDocumentManager | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    browsers: IFileBrowserFactory | null
  ) => {
    translator = translator ?? nullTranslator;
    const trans = translator.load('onnx_autodoc');
    const services = makeServices(app, translator, themes, stateDB, browsers);
    followSettings(services.settings, registry);
    registerFileTypes(app, trans.__('ONNX model'));
    registerModel(app, drive);
    app.docRegistry.addWidgetExtension(NOTEBOOK, new OutputExtension(services));
    const tracker = registerFactory(app, drive, services, translator);
    if (restorer) {
      void restorer.restore(tracker, {
        command: 'docmanager:open',
        args: widget => ({ path: widget.context.path, factory: FACTORY_NAME }),
        name: widget => widget.context.path
      });
    }
    addCommands({
      app,
      tracker,
      trans,
      translator,
      manager,
      palette,
      launcher
    });
    const keeper = new LinkKeeper(tracker, {
      load: () => services.loadState('#links'),
      save: records => services.saveState('#links', records)
    });
    void keeper.restore(app.restored);
    addCompareCommands({
      app,
      tracker,
      keeper,
      trans,
      translator,
      manager,
      palette,
      browsers
    });
  }
};

function makeServices(
  app: JupyterFrontEnd,
  translator: ITranslator,
  themes: IThemeManager | null,
  stateDB: IStateDB | null,
  browsers: IFileBrowserFactory | null
): IOnnxServices {
  const trans = translator.load('onnx_autodoc');
  // Now: Lab writes its own address before the document is there.
  const link = new StartLink();
  // Not in the tracker's namespace: restoring drops what it does not know there.
  const stateKey = (key: string): string => `onnx-autodoc-view:${key}`;
  return {
    serverSettings: app.serviceManager.serverSettings,
    trans,
    translate: viewerTranslator(trans),
    settings: new LabSettings(),
    theme: () => themes?.theme ?? '',
    themeChanged: themes?.themeChanged ?? null,
    files: {
      added: () => void browsers?.tracker.currentWidget?.model.refresh(),
      open: path =>
        void app.commands.execute('docmanager:open', {
          path,
          factory: FACTORY_NAME
        }),
      compare: path =>
        void app.commands.execute('onnx-autodoc:compare-with', { path })
    },
    takeLink: path => link.take(path),
    loadState: key => stateDB?.fetch(stateKey(key)) ?? Promise.resolve(null),
    saveState: (key, state) => {
      stateDB
        ?.save(stateKey(key), state as ReadonlyPartialJSONValue)
        .catch((error: unknown) =>
          console.warn('ONNX Autodoc: the view was not remembered', error)
        );
    }
  };
}

function followSettings(
  settings: LabSettings,
  registry: ISettingRegistry | null
): void {
  if (!registry) {
    settings.giveUp();
    return;
  }
  registry
    .load(PLUGIN_ID)
    .then(loaded => settings.attach(loaded))
    .catch((error: unknown) => {
      console.error('ONNX Autodoc: settings could not be read', error);
      settings.giveUp();
    });
}

function registerFileTypes(app: JupyterFrontEnd, displayName: string): void {
  app.docRegistry.addFileType({
    name: ONNX_FILE_TYPE,
    displayName,
    extensions: ['.onnx'],
    mimeTypes: ['application/x-onnx'],
    contentType: 'file',
    fileFormat: 'base64',
    icon: onnxIcon
  });
  // Opened by us only to say clearly why it cannot be shown and what to do.
  app.docRegistry.addFileType({
    name: ORT_FILE_TYPE,
    displayName: 'ONNX Runtime model',
    extensions: ['.ort'],
    mimeTypes: ['application/x-ort'],
    contentType: 'file',
    fileFormat: 'base64',
    icon: onnxIcon
  });
}

function registerModel(app: JupyterFrontEnd, drive: Contents.IDrive): void {
  app.docRegistry.addModelFactory(new OnnxModelFactory());
  drive.contentProviderRegistry?.register(PROVIDER_ID, metadataProvider(drive));
}

function registerFactory(
  app: JupyterFrontEnd,
  drive: Contents.IDrive,
  services: IOnnxServices,
  translator: ITranslator
): WidgetTracker<OnnxDocument> {
  const factory = new OnnxWidgetFactory({
    name: FACTORY_NAME,
    label: services.trans.__('ONNX Autodoc'),
    modelName: MODEL_NAME,
    contentProviderId: drive.contentProviderRegistry ? PROVIDER_ID : undefined,
    fileTypes: [ONNX_FILE_TYPE, ORT_FILE_TYPE],
    defaultFor: [ONNX_FILE_TYPE, ORT_FILE_TYPE],
    readOnly: true,
    translator,
    services
  });
  const tracker = new WidgetTracker<OnnxDocument>({
    namespace: 'onnx-autodoc'
  });
  factory.widgetCreated.connect((_, widget) => {
    widget.context.pathChanged.connect(() => void tracker.save(widget));
    void tracker.add(widget);
  });
  app.docRegistry.addWidgetFactory(factory);
  return tracker;
}
