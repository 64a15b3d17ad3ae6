/** One view of the widget: traits in, what the user does out. */

import * as React from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { embeddedLayoutEngine } from '../embed/engine';
import { isOverlayId, Viewer, type IViewerHandle } from '../viewer';
import { messageOf, tell, type IWidgetModel } from './model';
import { Pairs } from './pairs';
import { WidgetProvider } from './provider';
import { Shelf, type IRestable } from './shelf';
import { SizeLink } from './sizes';
import { isDark, onThemeChange } from './theme';

interface IOverlayTrait {
  readonly label: string;
  readonly unit: string;
  readonly values: Readonly<Record<string, number>>;
}

/** Viewers of one page that are alive at a time. */
const MOST_ALIVE = 4;
const shelf = new Shelf(MOST_ALIVE);
const pairs = new Pairs();
const HELLO = 'autodoc:hello';

/** Mounts a view; returns what unmounts it. */
export function mount(
  model: IWidgetModel,
  el: HTMLElement,
  style: string
): () => void {
  const view = new WidgetView(model, el, style);
  return () => view.dispose();
}

class WidgetView implements IRestable {
  private readonly _host = document.createElement('div');
  private _root: Root | null = null;
  private _handle: IViewerHandle | null = null;
  private _provider: WidgetProvider | null = null;
  /** The model is drawn and the traits are told to it: from now on it tells them. */
  private _settled = false;
  private _titled = false;
  private _visible = false;
  private _live = false;
  private _gone = false;
  private _own = false;
  private readonly _sizes: SizeLink;
  private _unpair: (() => void) | null = null;
  private readonly _undo: (() => void)[] = [];

  constructor(
    private readonly _model: IWidgetModel,
    private readonly _el: HTMLElement,
    private readonly _style: string
  ) {
    this._sizes = new SizeLink(
      _model,
      sizes => this._put('dims', sizes),
      () => this._live
    );
    const host = this._host;
    host.className = 'oad-Widget';
    // Keys belong to the viewer while it has the focus, not to the notebook's command mode.
    host.setAttribute('data-lm-suppress-shortcuts', 'true');
    _el.append(host);
    this._listen();
    this._frame();
    // A page with many widgets makes each when it is first looked at, and lets go of those far away.
    const seen = new IntersectionObserver(
      entries => this._see(entries.some(entry => entry.isIntersecting)),
      { rootMargin: '200px' }
    );
    seen.observe(host);
    // The page scrolls past a viewer that nobody is using.
    const pass = (event: WheelEvent): void => {
      if (!event.ctrlKey && !this._inUse()) {
        event.stopPropagation();
      }
    };
    host.addEventListener('wheel', pass, { capture: true });
    this._undo.push(
      () => seen.disconnect(),
      onThemeChange(_el, () => this._draw())
    );
    tell(_model, { type: HELLO });
  }

  // ---- coming and going

  get mayRest(): boolean {
    return !this._visible && !this._inUse();
  }

  rest(): void {
    if (this._handle && this._settled) {
      this._put('view', this._handle.getState());
    }
    this._clear();
    const note = document.createElement('div');
    note.className = 'oad-Widget-rest';
    note.textContent = this._provider?.exportName ?? '';
    this._host.replaceChildren(note);
    this._provider = null;
  }

  dispose(): void {
    this._gone = true;
    shelf.drop(this);
    for (const undo of this._undo) {
      undo();
    }
    this._clear();
    this._host.remove();
  }

  private _inUse(): boolean {
    const root = this._host.getRootNode() as Document | ShadowRoot;
    const focused = root.activeElement ?? null;
    return focused !== null && this._host.contains(focused);
  }

  private _clear(): void {
    this._unpair?.();
    this._unpair = null;
    this._root?.unmount();
    this._root = null;
    this._handle = null;
    this._settled = this._titled = false;
  }

  private _see(visible: boolean): void {
    this._visible = visible;
    if (visible && !this._gone) {
      shelf.use(this);
      if (!this._root) {
        void this._show();
      }
    }
  }

  /** Draws the model that the widget carries now. */
  private async _show(): Promise<void> {
    const host = this._host;
    this._addStyle();
    try {
      const provider = await WidgetProvider.of(this._model, () => this._live);
      if (this._gone) {
        return;
      }
      this._handle = null;
      this._settled = this._titled = false;
      this._provider = provider;
      this._sizes.start(provider.base);
      if (!this._root) {
        host.replaceChildren();
        this._root = createRoot(host);
      }
      this._draw();
    } catch (error) {
      this._clear();
      host.setAttribute('role', 'alert');
      host.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  /** Once a document, or once a shadow tree. */
  private _addStyle(): void {
    const root = this._host.getRootNode();
    const target = root instanceof ShadowRoot ? root : document.head;
    const known = target.querySelectorAll('style[data-onnx-autodoc]');
    if (!Array.from(known).some(old => old.textContent === this._style)) {
      const sheet = document.createElement('style');
      sheet.dataset.onnxAutodoc = '';
      sheet.textContent = this._style;
      target.append(sheet);
    }
  }

  private _frame(): boolean {
    const dark = isDark(String(this._model.get('theme')), this._el);
    const own = dark !== isDark('auto', this._el);
    this._host.toggleAttribute('data-oad-own', own);
    this._host.style.height = `${Number(this._model.get('height')) || 600}px`;
    this._host.setAttribute('data-jp-theme-light', String(!dark));
    return dark;
  }

  private _draw(): void {
    const dark = this._frame();
    if (!this._provider || !this._root) {
      return;
    }
    this._root.render(
      <Viewer
        provider={this._provider}
        makeLayoutEngine={embeddedLayoutEngine}
        theme={dark ? 'dark' : 'light'}
        state={this._model.get('view')}
        onReady={handle => {
          this._handle = handle;
          this._settle();
        }}
        onTitle={() => {
          this._titled = true;
          this._settle();
        }}
        onSelection={nodes => this._tell('selection', nodes)}
        onOverlay={overlay =>
          overlay !== 'user' && this._tell('overlay', overlay)
        }
        onStateChange={view => this._tell('view', view)}
        onDims={sizes => this._settled && this._sizes.shown(sizes)}
      />
    );
  }

  /** The model is drawn: what the traits say goes before what the view remembers. */
  private _settle(): void {
    if (this._settled || !this._handle || !this._titled) {
      return;
    }
    this._settled = true;
    this._paint();
    this._choose();
    this._unpair?.();
    this._unpair = pairs.arrive(this._model.get('_pair'), this._handle);
    void this._sizes.follow(() => this._handle);
  }

  // ---- traits

  /** Writes a trait without hearing of it again. */
  private _put(trait: string, value: unknown): void {
    if (JSON.stringify(this._model.get(trait)) === JSON.stringify(value)) {
      return;
    }
    this._own = true;
    this._model.set(trait, value);
    this._own = false;
    this._model.save_changes();
  }

  private _tell(trait: string, value: unknown): void {
    if (this._settled) {
      this._put(trait, value);
    }
  }

  private _listen(): void {
    const model = this._model;
    const follow = (act: () => void) => (): void => {
      if (!this._own && this._settled) {
        act();
      }
    };
    const listeners: Record<string, (...args: never[]) => void> = {
      'change:selection': follow(() => this._choose()),
      'change:overlay': follow(() => this._paint()),
      'change:view': follow(() => this._handle?.setState(model.get('view'))),
      'change:dims': follow(() => void this._sizes.follow(() => this._handle)),
      'change:_bundle': () => {
        if (this._root && !this._provider?.asking) {
          void this._show();
        }
      },
      'change:theme': () => this._draw(),
      'change:height': () => this._draw(),
      'msg:custom': (content: unknown) => {
        if (messageOf(content, HELLO) && !this._live) {
          this._live = true;
          this._draw();
        }
      }
    };
    for (const [event, listener] of Object.entries(listeners)) {
      model.on(event, listener);
      this._undo.push(() => model.off(event, listener));
    }
  }

  private _choose(): void {
    const wanted = this._model.get('selection');
    const ids = Array.isArray(wanted) ? (wanted as number[]) : [];
    const shown = this._handle?.selectedNodes() ?? [];
    if (this._handle && JSON.stringify(shown) !== JSON.stringify(ids)) {
      this._handle.selectNodes(ids);
    }
  }

  /** The overlay trait: a name, numbers by node, or nothing. */
  private _paint(): void {
    const overlay = this._model.get('overlay');
    if (overlay !== null && typeof overlay === 'object') {
      const { label, unit, values } = overlay as IOverlayTrait;
      const byNode = Object.entries(values).map(
        ([node, value]) => [Number(node), value] as const
      );
      this._handle?.setUserValues({ label, unit, values: new Map(byNode) });
    } else {
      this._handle?.setOverlay(
        typeof overlay === 'string' && isOverlayId(overlay) ? overlay : null
      );
    }
  }
}
