/** One view of the widget: traits in, what the user does out. */

import * as React from 'react';
import { createRoot } from 'react-dom/client';
import { embeddedLayoutEngine } from '../embed/engine';
import { BundleProvider, readBundle } from '../providers/bundle';
import { kernelWeights, type IKernelModel } from '../providers/kernel';
import type { ILoadOptions, IReportProvider } from '../providers/provider';
import { isOverlayId, Viewer, type IViewerHandle } from '../viewer';
import { isDark } from './theme';

/** The part of a widget's model that is used here. */
export interface IWidgetModel extends IKernelModel {
  get(trait: string): unknown;
  set(trait: string, value: unknown): void;
  save_changes(): void;
}

interface IOverlayTrait {
  readonly label: string;
  readonly unit: string;
  readonly values: Readonly<Record<string, number>>;
}

/** Kernels send bytes as a `DataView`; a saved notebook may hold them otherwise. */
function bytesOf(value: unknown): Uint8Array<ArrayBuffer> {
  if (value instanceof DataView) {
    const { buffer, byteOffset, byteLength } = value;
    return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
  }
  return value instanceof ArrayBuffer
    ? new Uint8Array(value)
    : new Uint8Array(0);
}

/** Analyses again in the kernel when dimensions change; else serves the bundle it has. */
class WidgetProvider implements IReportProvider {
  readonly exportName: string;
  /** True while new sizes are being analysed: the bundle that comes is the answer to that. */
  asking = false;

  readonly weights: IReportProvider['weights'];

  private constructor(
    private readonly _model: IWidgetModel,
    private _served: BundleProvider
  ) {
    this.exportName = _served.exportName;
    this.weights = kernelWeights(_model);
  }

  get fixedDims(): boolean {
    return this._model.comm_live === false;
  }

  static async of(model: IWidgetModel): Promise<WidgetProvider> {
    const bundle = await readBundle(bytesOf(model.get('_bundle')));
    return new WidgetProvider(model, new BundleProvider(bundle));
  }

  async load(
    options: ILoadOptions,
    onProgress: Parameters<IReportProvider['load']>[1],
    signal: AbortSignal
  ): ReturnType<IReportProvider['load']> {
    const wanted = JSON.stringify(options.bindings);
    if (
      Object.keys(options.bindings).length > 0 &&
      wanted !== JSON.stringify(this._model.get('dims'))
    ) {
      const bytes = await this._ask(options.bindings, signal);
      this._served = new BundleProvider(await readBundle(bytes));
    }
    return this._served.load(options, onProgress, signal);
  }

  details(
    ...args: Parameters<IReportProvider['details']>
  ): ReturnType<IReportProvider['details']> {
    return this._served.details(...args);
  }

  /** Sets the trait and waits for the kernel's new bundle. */
  private _ask(
    dims: Readonly<Record<string, number>>,
    signal: AbortSignal
  ): Promise<Uint8Array<ArrayBuffer>> {
    this.asking = true;
    return new Promise((resolve, reject) => {
      const done = (): void => {
        end();
        resolve(bytesOf(this._model.get('_bundle')));
      };
      const end = (): void => {
        this._model.off('change:_bundle', done);
        this.asking = false;
      };
      signal.addEventListener('abort', () => {
        end();
        reject(new DOMException('Aborted', 'AbortError'));
      });
      this._model.on('change:_bundle', done);
      this._model.set('dims', { ...dims });
      this._model.save_changes();
    });
  }
}

/** Mounts a view; returns what unmounts it. */
export function mount(model: IWidgetModel, el: HTMLElement): () => void {
  const host = document.createElement('div');
  host.className = 'oad-Widget';
  // Keys belong to the viewer while it has the focus, not to the notebook's command mode.
  host.setAttribute('data-lm-suppress-shortcuts', 'true');
  el.append(host);
  const root = createRoot(host);
  let handle: IViewerHandle | null = null;
  let provider: WidgetProvider | null = null;
  let live = true;
  let own = false;

  /** Writes a trait without hearing of it again. */
  const put = (trait: string, value: unknown): void => {
    if (JSON.stringify(model.get(trait)) === JSON.stringify(value)) {
      return;
    }
    own = true;
    model.set(trait, value);
    own = false;
    model.save_changes();
  };
  const draw = (): void => {
    const dark = isDark(String(model.get('theme')), el);
    host.style.height = `${Number(model.get('height')) || 600}px`;
    host.setAttribute('data-jp-theme-light', String(!dark));
    if (provider && live) {
      root.render(
        <Viewer
          provider={provider}
          makeLayoutEngine={embeddedLayoutEngine}
          theme={dark ? 'dark' : 'light'}
          state={model.get('view')}
          onReady={next => {
            handle = next;
            paint();
          }}
          onSelection={nodes => put('selection', nodes)}
          onOverlay={overlay => overlay !== 'user' && put('overlay', overlay)}
          onStateChange={view => put('view', view)}
        />
      );
    }
  };
  const show = async (): Promise<void> => {
    try {
      provider = await WidgetProvider.of(model);
      draw();
    } catch (error) {
      host.setAttribute('role', 'alert');
      host.textContent = error instanceof Error ? error.message : String(error);
    }
  };
  /** The overlay trait: a name, numbers by node, or nothing. */
  const paint = (): void => {
    const overlay = model.get('overlay');
    if (typeof overlay === 'string') {
      handle?.setOverlay(isOverlayId(overlay) ? overlay : null);
    } else if (overlay !== null && typeof overlay === 'object') {
      const { label, unit, values } = overlay as IOverlayTrait;
      const byNode = Object.entries(values).map(
        ([node, value]) => [Number(node), value] as const
      );
      handle?.setUserValues({ label, unit, values: new Map(byNode) });
    }
  };
  const follow = (act: () => void) => (): void => {
    if (!own) {
      act();
    }
  };
  const listeners: Record<string, () => void> = {
    'change:selection': follow(() =>
      handle?.selectNodes(model.get('selection') as number[])
    ),
    'change:overlay': follow(paint),
    'change:view': follow(() => handle?.setState(model.get('view'))),
    'change:_bundle': () => {
      if (!provider?.asking) {
        void show();
      }
    },
    'change:theme': draw,
    'change:height': draw
  };
  for (const [event, listener] of Object.entries(listeners)) {
    model.on(event, listener);
  }
  // A page with many widgets makes each when it is first looked at.
  const seen = new IntersectionObserver(entries => {
    if (entries.some(entry => entry.isIntersecting)) {
      seen.disconnect();
      void show();
    }
  });
  seen.observe(host);
  // The page scrolls past a viewer that nobody is using.
  const pass = (event: WheelEvent): void => {
    if (!event.ctrlKey && !host.contains(document.activeElement)) {
      event.stopPropagation();
    }
  };
  host.addEventListener('wheel', pass, { capture: true });
  draw();
  return () => {
    live = false;
    seen.disconnect();
    for (const [event, listener] of Object.entries(listeners)) {
      model.off(event, listener);
    }
    root.unmount();
    host.remove();
  };
}
