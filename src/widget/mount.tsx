/** One view of the widget: traits in, user changes out. */

import * as React from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { type Flow, FLOWS } from '../core/types';
import { embeddedLayoutEngine } from '../embed/embeddedLayoutEngine';
import {
  applySelection,
  pageFont,
  applyOverlay,
  LazyMount,
  Viewer,
  type IMountContent,
  type IViewerHandle
} from '../viewer';
import { messageOf, sendMessage, type IWidgetModel } from './model';
import { PairRegistry } from './pairRegistry';
import { WidgetProvider } from './provider';
import { DimTraitSync } from './dimTraitSync';
import { hasThemeColors, isDark, onThemeChange } from './theme';
import { ViewStateSync } from './viewStateSync';

const pairs = new PairRegistry();
const HELLO = 'autodoc:hello';
const SHOW = 'autodoc:show';

/** Parses the flow of a trait or view; earlier notebooks have none. */
function flowOf(value: unknown): Flow | undefined {
  return FLOWS.find(flow => flow === value);
}

/** Mounts a view; returns a function that unmounts it. */
export function mount(
  model: IWidgetModel,
  el: HTMLElement,
  style: string
): () => void {
  const view = new WidgetView(model, el, style);
  return () => view.dispose();
}

class WidgetView implements IMountContent {
  private readonly _host = document.createElement('div');
  private _root: Root | null = null;
  private _handle: IViewerHandle | null = null;
  private _provider: WidgetProvider | null = null;
  /** True once the model is drawn and traits are applied: from then on the view updates the traits. */
  private _settled = false;
  private _titled = false;
  private _live = false;
  private _disposed = false;
  private _isWritingTrait = false;
  /** Incremented with each model shown or removed, to discard outdated results. */
  private _generation = 0;
  private _making = false;
  private readonly _sizes: DimTraitSync;
  private readonly _view: ViewStateSync;
  private readonly _lazyMount: LazyMount;
  private _unpair: (() => void) | null = null;
  private readonly _stopListening: (() => void)[] = [];

  constructor(
    private readonly _model: IWidgetModel,
    private readonly _el: HTMLElement,
    private readonly _style: string
  ) {
    this._sizes = new DimTraitSync(
      _model,
      sizes => this._put('dims', sizes),
      () => this._live
    );
    this._view = new ViewStateSync(_model, view => this._publish('view', view));
    const host = this._host;
    host.className = 'oad-Widget';
    _el.classList.add('oad-WidgetPlace');
    _el.append(host);
    this._listen();
    this._frame();
    this._lazyMount = new LazyMount(host, this);
    this._stopListening.push(onThemeChange(_el, () => this._draw()));
    this._stopListening.push(this._view.watch(host));
    sendMessage(_model, { type: HELLO });
  }

  // ---- mounting and unmounting

  resume(): void {
    if (!this._root && !this._making && !this._disposed) {
      void this._show();
    }
  }

  suspend(): void {
    if (this._handle) {
      this._view.publish(this._handle.getState());
    }
    this._clear();
    const notice = document.createElement('div');
    notice.className = 'oad-LazyMount-rest';
    notice.textContent = this._provider?.exportName ?? '';
    this._host.replaceChildren(notice);
    this._provider = null;
  }

  dispose(): void {
    this._disposed = true;
    this._lazyMount.dispose();
    for (const undo of this._stopListening) {
      undo();
    }
    this._clear();
    this._host.remove();
    this._el.classList.remove('oad-WidgetPlace');
  }

  private _clear(): void {
    this._generation++;
    this._making = false;
    this._unpair?.();
    this._unpair = null;
    this._root?.unmount();
    this._root = null;
    this._handle = null;
    this._settled = this._titled = false;
  }

  /** Draws the widget's current model. */
  private async _show(): Promise<void> {
    const host = this._host;
    const generation = ++this._generation;
    this._making = true;
    this._addStyle();
    try {
      const provider = await WidgetProvider.of(this._model, () => this._live);
      if (generation !== this._generation) {
        return;
      }
      this._making = false;
      this._handle = null;
      this._settled = this._titled = false;
      this._provider = provider;
      this._sizes.start(provider.base);
      this._view.start();
      if (!this._root) {
        host.replaceChildren();
        this._root = createRoot(host);
      }
      this._draw();
    } catch (error) {
      if (generation === this._generation) {
        this._clear();
        host.setAttribute('role', 'alert');
        host.textContent =
          error instanceof Error ? error.message : String(error);
      }
    }
  }

  /** Adds the style sheet once per document or shadow tree. */
  private _addStyle(): void {
    const root = this._host.getRootNode();
    const target = root instanceof ShadowRoot ? root : document.head;
    const styles = target.querySelectorAll('style[data-onnx-autodoc]');
    if (!Array.from(styles).some(old => old.textContent === this._style)) {
      const sheet = document.createElement('style');
      sheet.dataset.onnxAutodoc = '';
      sheet.textContent = this._style;
      target.append(sheet);
    }
  }

  private _frame(): boolean {
    const dark = isDark(String(this._model.get('theme')), this._el);
    const needsTheme =
      !hasThemeColors(this._el) || dark !== isDark('auto', this._el);
    this._host.toggleAttribute('data-oad-own', needsTheme);
    // Boxes are sized for the page's font; elements in between may set another.
    this._host.style.setProperty('--jp-ui-font-family', pageFont());
    this._host.style.height = `${Number(this._model.get('height')) || 600}px`;
    this._host.setAttribute('data-jp-theme-light', String(!dark));
    return dark;
  }

  private _draw(): void {
    const dark = this._frame();
    const provider = this._provider;
    if (!provider || !this._root) {
      return;
    }
    this._root.render(
      <Viewer
        provider={provider}
        makeLayoutEngine={embeddedLayoutEngine}
        theme={dark ? 'dark' : 'light'}
        settings={{ direction: flowOf(this._model.get('direction')) }}
        state={this._model.get('view')}
        onReady={handle => {
          if (provider === this._provider) {
            this._handle = handle;
            this._settle();
          }
        }}
        onTitle={() => {
          if (provider === this._provider) {
            this._titled = true;
            this._settle();
          }
        }}
        onSelection={(nodes, tensors) => {
          this._publish('selection', nodes);
          this._publish('_tensors', tensors);
        }}
        onOverlay={overlay =>
          overlay !== 'user' &&
          overlay !== 'changes' &&
          this._publish('overlay', overlay)
        }
        onStateChange={view => {
          this._view.publish(view);
          const flow = flowOf((view as Record<string, unknown>).direction);
          if (flow) {
            this._publish('direction', flow);
          }
        }}
        onDims={sizes => this._settled && this._sizes.onShown(sizes)}
      />
    );
  }

  /** The model is drawn: traits override the stored state of the view. */
  private _settle(): void {
    if (this._settled || !this._handle || !this._titled) {
      return;
    }
    this._settled = true;
    this._applyOverlay();
    this._applySelection();
    this._unpair?.();
    this._unpair = pairs.register(this._model.get('_pair'), this._handle);
    void this._sizes.follow(() => this._handle);
  }

  // ---- traits

  /** Sets a trait without reacting to the change. */
  private _put(trait: string, value: unknown): void {
    if (JSON.stringify(this._model.get(trait)) === JSON.stringify(value)) {
      return;
    }
    this._isWritingTrait = true;
    try {
      this._model.set(trait, value);
    } finally {
      // Other listeners may throw.
      this._isWritingTrait = false;
    }
    this._model.save_changes();
  }

  private _publish(trait: string, value: unknown): void {
    if (this._settled) {
      this._put(trait, value);
    }
  }

  private _listen(): void {
    const model = this._model;
    const apply = (act: () => void) => (): void => {
      if (!this._isWritingTrait && this._settled) {
        act();
      }
    };
    const subscribe = (act: () => void): (() => void) =>
      apply(() => {
        this._view.claimLead();
        act();
      });
    const listeners: Record<string, (...args: never[]) => void> = {
      'change:selection': subscribe(() => this._applySelection()),
      'change:overlay': subscribe(() => this._applyOverlay()),
      'change:view': apply(() => this._view.follow(this._handle)),
      'change:dims': subscribe(
        () => void this._sizes.follow(() => this._handle)
      ),
      'change:_bundle': () => {
        if ((this._root || this._making) && !this._provider?.asking) {
          void this._show();
        }
      },
      'change:theme': () => this._draw(),
      'change:height': () => this._draw(),
      'change:direction': () => this._draw(),
      'msg:custom': (content: unknown) => {
        if (messageOf(content, HELLO) && !this._live) {
          this._live = true;
          this._draw();
        } else if (messageOf(content, SHOW) && this._settled) {
          this._applySelection(true);
        }
      }
    };
    for (const [event, listener] of Object.entries(listeners)) {
      model.on(event, listener);
      this._stopListening.push(() => model.off(event, listener));
    }
  }

  private _applySelection(isRetry = false): void {
    if (this._handle) {
      // The view applies them one by one: values from Python must not be sent back in pieces.
      this._settled = false;
      applySelection(this._handle, this._model.get('selection'), isRetry);
      this._settled = true;
    }
  }

  private _applyOverlay(): void {
    if (this._handle) {
      applyOverlay(this._handle, this._model.get('overlay'));
    }
  }
}
