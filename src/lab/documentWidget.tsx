import { ReactWidget } from '@jupyterlab/apputils';
import {
  ABCWidgetFactory,
  DocumentRegistry,
  DocumentWidget
} from '@jupyterlab/docregistry';
import type { ServerConnection } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { Signal, type ISignal } from '@lumino/signaling';
import * as React from 'react';
import {
  PrefetchedAnalysis,
  type IPrefetchOptions
} from '../providers/analysisStart';
import type { IFileHost, ITranslate, IViewerHandle } from '../viewer';
import { labConnection } from './labConnection';
import { takeLabDrops } from './profileDrops';
import { onnxIcon } from './icon';
import type { LabSettings } from './settings/labSettings';
import type { ShortcutKeys } from './settings/shortcutKeys';

/** Loads the viewer when the first model is opened, not when Lab starts. */
const fetchPanel = () => import('./modelPanel');
const Panel = React.lazy(fetchPanel);

/** Services that a document needs from its environment. */
export interface IDocumentServices {
  readonly serverSettings: ServerConnection.ISettings;
  readonly trans: TranslationBundle;
  readonly translate: ITranslate;
  readonly settings: LabSettings;
  /** Keys that users have bound to the viewer's actions. */
  readonly keys: ShortcutKeys;
  /** Name of Lab's theme, and a signal for its changes. */
  theme(): string;
  readonly themeChanged: ISignal<unknown, unknown> | null;
  /** Operations on files written by a view. */
  readonly files: IFileHost;
  /** Stored state of a view; null if there is none. */
  loadState(key: string): Promise<unknown>;
  saveState(key: string, state: object): void;
  /** The fragment of the address that opened this file, returned once; afterwards empty. */
  takeLink(path: string): string;
}

/** The main area of a document: the React viewer with the server's analysis. */
class OnnxPanel extends ReactWidget {
  constructor(
    private readonly _context: DocumentRegistry.Context,
    private readonly _services: IDocumentServices,
    /** Distinguishes several views of one file; the first is 0. */
    readonly ordinal: number
  ) {
    super();
    this.addClass('oad-LabPanel');
    // A renamed file keeps its widget: render again with the new path.
    this._context.pathChanged.connect(this._redraw, this);
    this._services.settings.changed.connect(this._redraw, this);
    this._services.keys.changed.connect(this._redraw, this);
    this._services.themeChanged?.connect(this._redraw, this);
    this._prefetched = new PrefetchedAnalysis(
      labConnection(_services.serverSettings),
      _context.localPath,
      this._prefetchOptions()
    );
    takeLabDrops(this.node, paths => this._handle?.loadProfile(paths));
    // Started early, since Lab has more to do before it renders. Errors are reported then.
    fetchPanel().catch(() => undefined);
  }

  /** Emitted when the viewer is mounted or replaced. */
  readonly handleChanged = new Signal<this, void>(this);

  /** Key of this view's stored state: the file and the view's ordinal. */
  get key(): string {
    return `${this._context.path}#${this.ordinal}`;
  }

  /** Handle for commands; null until the viewer is mounted. */
  get handle(): IViewerHandle | null {
    return this._handle;
  }

  /** Returns to the initial view, as soon as there is a viewer. */
  home(): void {
    this._homePending = this._handle === null;
    this._handle?.home();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      Signal.clearData(this);
      this._prefetched.dispose();
      super.dispose();
    }
  }

  protected override onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    this._visibility.emit(true);
  }

  protected override onBeforeHide(msg: Message): void {
    super.onBeforeHide(msg);
    this._visibility.emit(false);
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    this._focusPending = true;
    this._takeFocus();
  }

  /**
   * Moves the focus into the viewer after its tab was activated, as soon as there is a viewer. Lab has
   * focused the panel; if the user or a dialog has moved the focus elsewhere, it stays there.
   */
  private _takeFocus(): void {
    const { activeElement, body } = document;
    const viewer = this.node.querySelector<HTMLElement>('.oad-Viewer');
    if (!viewer || !this._focusPending) {
      return;
    }
    this._focusPending = false;
    const free =
      !activeElement ||
      activeElement === body ||
      activeElement.contains(this.node);
    if (free) {
      viewer.focus();
    }
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
          stateKey={this.key}
          services={this._services}
          prefetched={this._prefetched}
          visibility={this._visibility}
          isVisible={this._isVisible}
          onReady={handle => {
            this._handle = handle;
            if (this._homePending) {
              this.home();
            }
            this.handleChanged.emit();
            this._takeFocus();
          }}
          onCaption={caption => {
            const tab = this.parent?.title;
            if (tab) {
              tab.caption = `${this._context.path}\n${caption}`;
            }
          }}
        />
      </React.Suspense>
    );
  }

  /**
   * The options with which the viewer will request the analysis: from its stored state, else from the
   * settings.
   */
  private async _prefetchOptions(): Promise<IPrefetchOptions> {
    const { settings } = this._services;
    const [state] = await Promise.all([
      // The viewer reports any problem with it.
      this._services.loadState(this.key).catch(() => null),
      settings.ready
    ]);
    const stored = state as
      Partial<IPrefetchOptions['options']> | null | undefined;
    return {
      options: {
        bindings: stored?.bindings ?? {},
        assume: stored?.assume ?? settings.viewer.assumeDims ?? true
      },
      rules: settings.rules
    };
  }

  private _redraw(): void {
    this.update();
  }

  /** One function for the panel's lifetime, so that effects run once. */
  private readonly _isVisible = (): boolean => this.isVisible;
  private readonly _prefetched: PrefetchedAnalysis;
  private _handle: IViewerHandle | null = null;
  /** True if the tab was activated and the viewer has not received the focus yet. */
  private _focusPending = false;
  private _homePending = false;
  private readonly _visibility = new Signal<this, boolean>(this);
}

/** A tab with one model. */
export class OnnxDocument extends DocumentWidget<OnnxPanel> {}

/** Creates tabs for models. */
export class OnnxWidgetFactory extends ABCWidgetFactory<OnnxDocument> {
  constructor(
    options: DocumentRegistry.IWidgetFactoryOptions<OnnxDocument> & {
      services: IDocumentServices;
    }
  ) {
    super(options);
    this._services = options.services;
  }

  protected createNewWidget(context: DocumentRegistry.Context): OnnxDocument {
    const ordinal = this._takeOrdinal(context);
    const content = new OnnxPanel(context, this._services, ordinal);
    const widget = new OnnxDocument({ context, content });
    widget.title.icon = onnxIcon;
    // Lab's toolbar would only say that the file cannot be edited.
    widget.toolbar.hide();
    widget.disposed.connect(() => this._ordinals.get(context)?.delete(ordinal));
    return widget;
  }

  /** The smallest ordinal that no open view of the file uses. */
  private _takeOrdinal(context: DocumentRegistry.Context): number {
    const usedOrdinals = this._ordinals.get(context) ?? new Set<number>();
    this._ordinals.set(context, usedOrdinals);
    let ordinal = 0;
    while (usedOrdinals.has(ordinal)) {
      ordinal++;
    }
    usedOrdinals.add(ordinal);
    return ordinal;
  }

  private readonly _services: IDocumentServices;
  private readonly _ordinals = new WeakMap<
    DocumentRegistry.Context,
    Set<number>
  >();
}
