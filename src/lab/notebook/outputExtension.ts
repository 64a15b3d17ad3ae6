import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { Widget } from '@lumino/widgets';
import { OUTPUT_MIME, OutputRenderer } from './outputRenderer';
import type { IDocumentServices } from '../documentWidget';

/** Before the widget manager's −10, so that this extension decides what is shown. */
const RANK = -20;

/** The used part of a notebook panel; nothing is imported from the notebook itself. */
interface INotebookPanel {
  readonly content: { readonly rendermime: IRenderMimeRegistry };
}

function isNotebook(panel: unknown): panel is INotebookPanel {
  const { content } = panel as { content?: { rendermime?: unknown } };
  return typeof content?.rendermime === 'object';
}

/**
 * Renders outputs of the notebook widget: the live widget if there is one, else what the notebook
 * contains.
 */
export class OutputExtension implements DocumentRegistry.WidgetExtension {
  constructor(private readonly _services: IDocumentServices) {}

  createNew(panel: Widget, context: DocumentRegistry.Context): void {
    if (isNotebook(panel)) {
      const { rendermime } = panel.content;
      const host = { rendermime, context, services: this._services };
      // The registry belongs to the panel and is disposed with it.
      rendermime.addFactory(
        {
          // Names and numbers of a model, validated and shown as text.
          safe: true,
          mimeTypes: [OUTPUT_MIME],
          createRenderer: () => new OutputRenderer(host)
        },
        RANK
      );
    }
  }
}
