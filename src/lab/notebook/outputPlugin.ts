import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { OutputExtension } from './outputExtension';
import { IOnnxServices } from '../tokens';

/** JupyterLab's and Notebook's name for what shows notebooks. */
const NOTEBOOK = 'Notebook';

/** Shows the models that notebooks keep in their outputs. */
export const outputPlugin: JupyterFrontEndPlugin<void> = {
  id: 'onnx-autodoc:notebook-output',
  description: 'Shows the models that notebooks keep in their outputs.',
  autoStart: true,
  requires: [IOnnxServices],
  activate: (app: JupyterFrontEnd, services: IOnnxServices) => {
    app.docRegistry.addWidgetExtension(NOTEBOOK, new OutputExtension(services));
  }
};
