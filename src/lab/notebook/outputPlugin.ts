import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { OutputExtension } from './outputExtension';
import { IOnnxServices } from '../tokens';

/** Name of the widget factory for notebooks in JupyterLab and Notebook. */
const NOTEBOOK = 'Notebook';

/** Shows the models saved in notebook outputs. */
export const outputPlugin: JupyterFrontEndPlugin<void> = {
  id: 'onnx-autodoc:notebook-output',
  description: 'Shows the models that notebooks keep in their outputs.',
  autoStart: true,
  requires: [IOnnxServices],
  activate: (app: JupyterFrontEnd, services: IOnnxServices) => {
    app.docRegistry.addWidgetExtension(NOTEBOOK, new OutputExtension(services));
  }
};
