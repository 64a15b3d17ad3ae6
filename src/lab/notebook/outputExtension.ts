import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { Widget } from '@lumino/widgets';
import { OUTPUT_MIME, OutputRenderer } from './outputRenderer';
import type { IDocumentServices } from '../documentWidget';

/** Before the widget manager's −10: what is shown is decided here. */
const RANK = -20;

/** What is used of a notebook's panel; nothing is imported of the notebook itself. */
interface INotebookPanel {
  readonly content: { readonly rendermime: IRenderMimeRegistry };
}

function isNotebook(panel: unknown): panel is INotebookPanel {
  const { content } = panel as { content?: { rendermime?: unknown } };
  return typeof content?.rendermime === 'object';
}

/** Outputs of the notebook widget: the widget itself where it lives, else what the notebook keeps of it. */
export class OutputExtension implements DocumentRegistry.WidgetExtension {
  constructor(private readonly _services: IDocumentServices) {}

  createNew(panel: Widget, context: DocumentRegistry.Context): void {
    if (isNotebook(panel)) {
      const { rendermime } = panel.content;
      const host = { rendermime, context, services: this._services };
      // The registry is the panel's own and goes with it.
      rendermime.addFactory(
        {
          // Names and numbers of a model, read without trust and shown as text.
          safe: true,
          mimeTypes: [OUTPUT_MIME],
          createRenderer: () => new OutputRenderer(host)
        },
        RANK
      );
    }
  }
}
