import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { ILauncher } from '@jupyterlab/launcher';
import { IDefaultDrive, type Contents } from '@jupyterlab/services';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { addCommands } from './commands/modelCommands';
import {
  FACTORY_NAME,
  MODEL_NAME,
  ONNX_FILE_TYPE,
  ORT_FILE_TYPE,
  OnnxModelFactory,
  PROVIDER_ID,
  metadataProvider
} from './documentModel';
import { onnxIcon } from './icon';
import { IOnnxServices, IOnnxTracker } from './tokens';
import { OnnxWidgetFactory, type OnnxDocument } from './documentWidget';

/** Opens ONNX models as documents. */
export const viewerPlugin: JupyterFrontEndPlugin<IOnnxTracker> = {
  id: 'onnx-autodoc:plugin',
  description: 'Opens ONNX models: graph, costs, per-layer table.',
  autoStart: true,
  provides: IOnnxTracker,
  requires: [IDefaultDrive, IOnnxServices],
  optional: [
    ILayoutRestorer,
    ITranslator,
    IDocumentManager,
    ICommandPalette,
    ILauncher
  ],
  activate: (
    app: JupyterFrontEnd,
    drive: Contents.IDrive,
    services: IOnnxServices,
    restorer: ILayoutRestorer | null,
    translator: ITranslator | null,
    manager: IDocumentManager | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null
  ) => {
    translator = translator ?? nullTranslator;
    const { trans } = services;
    registerFileTypes(app, trans.__('ONNX model'), trans.__('ORT model'));
    registerModel(app, drive);
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
    return tracker;
  }
};

function registerFileTypes(
  app: JupyterFrontEnd,
  onnxName: string,
  ortName: string
): void {
  app.docRegistry.addFileType({
    name: ONNX_FILE_TYPE,
    displayName: onnxName,
    extensions: ['.onnx', '.onnxtxt'],
    mimeTypes: ['application/x-onnx'],
    contentType: 'file',
    fileFormat: 'base64',
    icon: onnxIcon
  });
  app.docRegistry.addFileType({
    name: ORT_FILE_TYPE,
    displayName: ortName,
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
