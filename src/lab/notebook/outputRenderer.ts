import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Panel } from '@lumino/widgets';
import { readSaved } from './savedOutput';
import { SavedPanel } from './savedPanel';
import type { IDocumentServices } from '../documentWidget';

/** Written by `py_autodoc/widget/saved_output.py`. */
export const OUTPUT_MIME = 'application/vnd.onnx-autodoc.v1+json';
const VIEW_MIME = 'application/vnd.jupyter.widget-view+json';
const STATE_MIME = 'application/vnd.jupyter.widget-state+json';
const COMM_TARGET = 'jupyter.widget';

export interface IOutputHost {
  readonly rendermime: IRenderMimeRegistry;
  readonly context: DocumentRegistry.Context;
  readonly services: IDocumentServices;
}

/** Content of an output: the widget, the saved model, or the saved image. */
type OutputContent = 'nothing' | 'live' | 'model' | 'picture';

/** True if Python has closed the widget: its manager writes that into the output. */
function isClosed({ data }: IRenderMime.IMimeModel): boolean {
  const view = data[VIEW_MIME] as { model_id?: unknown } | undefined;
  return view?.model_id === '';
}

/**
 * Shows a live widget with the widget manager's own renderer; otherwise the model saved in the notebook,
 * or the saved image if there is no model.
 */
export class OutputRenderer extends Panel implements IRenderMime.IRenderer {
  private _model: IRenderMime.IMimeModel | null = null;
  private _shown: OutputContent = 'nothing';
  /** Incremented with everything shown, to discard outdated results. */
  private _generation = 0;

  constructor(private readonly _host: IOutputHost) {
    super();
    this.addClass('oad-Output');
    const { sessionContext } = _host.context;
    sessionContext.iopubMessage.connect(this._update, this);
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this._model = model;
    this._shown = 'nothing';
    const generation = ++this._generation;
    if (isClosed(model)) {
      this._clear();
      this.hide();
    } else if (this._isLive(model)) {
      await this._showWidget(model);
    } else if (this._isSaved(model) && (await this._hasManager())) {
      if (generation === this._generation) {
        await this._showWidget(model);
      }
    } else if (generation === this._generation) {
      await this._showSaved(model);
      await this._askElsewhere(model);
    }
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._generation++;
      const { sessionContext } = this._host.context;
      sessionContext.iopubMessage.disconnect(this._update, this);
      super.dispose();
    }
  }

  /** A widget may become available later: after a reload, the page asks the kernel for existing ones. */
  private _update(): void {
    const model = this._model;
    if (model && this._shown !== 'live' && this._isLive(model)) {
      void this._showWidget(model);
    }
  }

  /**
   * Of several connections to one kernel only one has the widgets; the others ask the kernel whether this
   * one exists, which takes until the kernel is idle.
   */
  private async _askElsewhere(model: IRenderMime.IMimeModel): Promise<void> {
    const id = this._id(model);
    const generation = this._generation;
    if (id === '' || !this._canShowWidgets() || !(await this._hasManager())) {
      return;
    }
    const kernel = this._host.context.sessionContext.session?.kernel;
    if (kernel && !kernel.handleComms) {
      const { content } = await kernel.requestCommInfo({
        target_name: COMM_TARGET
      });
      const exists =
        content.status === 'ok' && Object.hasOwn(content.comms, id);
      if (exists && generation === this._generation) {
        await this._showWidget(model);
      }
    }
  }

  // ---- what is available

  /** The widget's id; empty if the output is not trusted. */
  private _id({ data, trusted }: IRenderMime.IMimeModel): string {
    const view = data[VIEW_MIME] as { model_id?: unknown } | undefined;
    return trusted && typeof view?.model_id === 'string' ? view.model_id : '';
  }

  /** True if the widget's model is in the kernel and the widget manager is connected to it. */
  private _isLive(model: IRenderMime.IMimeModel): boolean {
    const id = this._id(model);
    const kernel = this._host.context.sessionContext.session?.kernel;
    return id !== '' && kernel?.hasComm(id) === true && this._canShowWidgets();
  }

  /** True if the notebook was saved with the state of this widget. */
  private _isSaved(model: IRenderMime.IMimeModel): boolean {
    const notebook = this._host.context.model as {
      getMetadata?(key: string): unknown;
    };
    const widgetStates = notebook.getMetadata?.('widgets') as
      | Record<string, { state?: Record<string, unknown> } | undefined>
      | undefined;
    const state = widgetStates?.[STATE_MIME]?.state ?? {};
    const id = this._id(model);
    return id !== '' && Object.hasOwn(state, id) && this._canShowWidgets();
  }

  private _canShowWidgets(): boolean {
    return this._host.rendermime.getFactory(VIEW_MIME) !== undefined;
  }

  /** Widget managers exist only with a kernel. */
  private async _hasManager(): Promise<boolean> {
    const { sessionContext } = this._host.context;
    try {
      await sessionContext.ready;
    } catch {
      // Lab has reported why no kernel started.
      return false;
    }
    // The manager is notified of the kernel at the same time, perhaps after this code.
    await new Promise(resolve => setTimeout(resolve));
    return Boolean(sessionContext.session?.kernel);
  }

  // ---- rendering

  private async _showWidget(model: IRenderMime.IMimeModel): Promise<void> {
    this._shown = 'live';
    await this._put(VIEW_MIME, model);
  }

  private async _showSaved(model: IRenderMime.IMimeModel): Promise<void> {
    const saved = readSaved(model.data[OUTPUT_MIME]);
    if (saved.models.length === 0) {
      await this._showPicture(model);
      return;
    }
    this._shown = 'model';
    this._clear();
    const fail = (message: string): void => {
      console.warn(`ONNX Autodoc: the saved model cannot be shown: ${message}`);
      if (this._shown === 'model') {
        void this._showPicture(model);
      }
    };
    const parts = saved.separate
      ? saved.models.map(model => ({ ...saved, models: [model] }))
      : [saved];
    for (const savedModel of parts) {
      this.addWidget(new SavedPanel(savedModel, this._host.services, fail));
    }
  }

  /** Renders the preferred MIME type of the rest of the output. */
  private async _showPicture(model: IRenderMime.IMimeModel): Promise<void> {
    this._shown = 'picture';
    const {
      [VIEW_MIME]: _view,
      [OUTPUT_MIME]: _own,
      ...otherData
    } = model.data;
    const best = this._host.rendermime.preferredMimeType(
      otherData,
      model.trusted ? 'any' : 'ensure'
    );
    if (best !== undefined) {
      await this._put(best, model);
    }
  }

  private _put(type: string, model: IRenderMime.IMimeModel): Promise<void> {
    this._clear();
    const renderer = this._host.rendermime.createRenderer(type);
    this.addWidget(renderer);
    return renderer.renderModel(model);
  }

  private _clear(): void {
    this._generation++;
    for (const old of [...this.widgets]) {
      old.dispose();
    }
  }
}
