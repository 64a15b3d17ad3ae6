import { ReactWidget } from '@jupyterlab/apputils';
import {
  ABCWidgetFactory,
  DocumentRegistry,
  DocumentWidget
} from '@jupyterlab/docregistry';
import type { ServerConnection } from '@jupyterlab/services';
import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { Signal, type ISignal } from '@lumino/signaling';
import * as React from 'react';
import type { IViewerHandle, IViewerSettings } from '../viewer';
import { onnxIcon } from './icon';

/** The viewer is fetched when the first model is opened, not when Lab starts. */
const Panel = React.lazy(() => import('./panel'));

/** What a document needs from its surroundings. */
export interface IOnnxServices {
  serverSettings: ServerConnection.ISettings;
  trans: TranslationBundle;
  /** Settings of the user, and news of their change. */
  settings(): IViewerSettings;
  settingsChanged: ISignal<unknown, void>;
  /** Remembered state of a view, by widget id. */
  loadState(key: string): Promise<unknown>;
  saveState(key: string, state: unknown): void;
}

/** The main area of a document: the React viewer over the server's analysis. */
export class OnnxPanel extends ReactWidget {
  constructor(
    private _context: DocumentRegistry.Context,
    private _services: IOnnxServices
  ) {
    super();
    this.addClass('oad-LabPanel');
    // A rename keeps the widget: draw again under the new path.
    this._context.pathChanged.connect(this.update, this);
    this._services.settingsChanged.connect(this.update, this);
  }

  /** Commands act on the viewer through this; null until the first picture. */
  get handle(): IViewerHandle | null {
    return this._handle;
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    Signal.clearData(this);
    super.dispose();
  }

  protected override onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    this._visible.emit(true);
  }

  protected override onBeforeHide(msg: Message): void {
    super.onBeforeHide(msg);
    this._visible.emit(false);
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    this.node.querySelector<HTMLElement>('.oad-Viewer')?.focus();
  }

  protected render(): JSX.Element {
    const { trans } = this._services;
    return (
      <React.Suspense
        fallback={
          <div className="oad-Boot" role="status">
            {trans.__('Opening the viewer…')}
          </div>
        }
      >
        <Panel
          path={this._context.localPath}
          services={this._services}
          visible={this._visible}
          isVisible={() => this.isVisible}
          onReady={handle => {
            this._handle = handle;
          }}
        />
      </React.Suspense>
    );
  }

  private _handle: IViewerHandle | null = null;
  private _visible = new Signal<this, boolean>(this);
}

/** A tab that shows one model. */
export class OnnxDocument extends DocumentWidget<OnnxPanel> {}

/** Makes tabs for `.onnx` files (and for `.ort` files, to say why they cannot be shown). */
export class OnnxWidgetFactory extends ABCWidgetFactory<OnnxDocument> {
  constructor(
    options: DocumentRegistry.IWidgetFactoryOptions<OnnxDocument> & {
      services: IOnnxServices;
    }
  ) {
    super(options);
    this._services = options.services;
  }

  protected createNewWidget(context: DocumentRegistry.Context): OnnxDocument {
    const content = new OnnxPanel(context, this._services);
    const widget = new OnnxDocument({ context, content });
    widget.title.icon = onnxIcon;
    return widget;
  }

  private _services: IOnnxServices;
}

/** Options of the factory besides Lab's own. */
export namespace OnnxWidgetFactory {
  export interface IOptions {
    translator: ITranslator;
  }
}
